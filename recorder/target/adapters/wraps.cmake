# SPDX-License-Identifier: Apache-2.0
# The linker's options for an adapter: --wrap of each function that it defines as __wrap_.
function(heapfit_wraps adapter result)
  file(READ ${adapter} text)
  string(REGEX MATCHALL "__wrap_[A-Za-z_]+" names "${text}")
  list(REMOVE_DUPLICATES names)
  list(TRANSFORM names REPLACE "^__wrap_" "-Wl,--wrap=")
  set(${result} ${names} PARENT_SCOPE)
endfunction()
