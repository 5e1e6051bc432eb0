# SPDX-License-Identifier: Apache-2.0
# bash completion of heapfit: source it.
_heapfit() {
    local word="${COMP_WORDS[COMP_CWORD]}" words
    case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
        "allocators "*) words="--json first_fit segregated_fit tlsf best_fit class_pools budgeted fixed_pool partition_pool chained_pool tailored sized kingsley lea djgpp_test1 djgpp_test2 djgpp_test3 djgpp_test4 djgpp_test5 djgpp_test6 halffit buddy nano_malloc sys_heap static_pools" ;;
        "adversary "*) words="--plan --output --region --search --seed --alignment --queue --drop-unknown --pointer-bits --workers --cluster --json --force first_fit segregated_fit tlsf best_fit class_pools budgeted fixed_pool partition_pool chained_pool tailored sized kingsley lea djgpp_test1 djgpp_test2 djgpp_test3 djgpp_test4 djgpp_test5 djgpp_test6 halffit buddy nano_malloc sys_heap static_pools" ;;
        "reproduce "*) words="--all --report --small --workers --cluster --json --force" ;;
        "generate "*) words="--output --prefix --language --for --counts --region --amalgamate --prove --json --force" ;;
        "workload "*) words="--output --like --seed --json --force t2_w1 t2_w2 t2_w3 t2_w4 t2_w5 queue_fill queue_slide slotbuf poisson_500 poisson_2000 djgpp_test zg_mean zg_cdf zg_size zg_markov zg_time phases_w1 phases_w2 phases_w3 phases_w4 phases_w5 phases_x16 phase_shift phase_shift_small campus" ;;
        "settings "*) words="--admission --assume --sent --queue --drop-unknown --pointer-bits --json lwip zephyr openthread freertos" ;;
        "simulate "*) words="--exact --output --report --workers --cluster --seed --half-width --json --force" ;;
        "profile "*) words="--series --queue --drop-unknown --pointer-bits --json --force" ;;
        "compare "*) words="--allocators --workloads --seed --plan --alignment --output --exact --granularity --plugin --crates --cflags --bits --board --events --designs --sram --report --program --queue --drop-unknown --pointer-bits --workers --cluster --json --force first_fit segregated_fit tlsf best_fit class_pools budgeted fixed_pool partition_pool chained_pool tailored sized kingsley lea djgpp_test1 djgpp_test2 djgpp_test3 djgpp_test4 djgpp_test5 djgpp_test6 halffit buddy nano_malloc sys_heap static_pools" ;;
        "slotbuf "*) words="--allocator --plan --min --max --region --header --exact-lists --seed --claims --trace --output --json --force" ;;
        "verify "*) words="--qemu --build --times --recording --now --build-now --prefix --for --machine --icount --seconds --output --json --force" ;;
        "record "*) words="--output --children --environment --site-depth --file --serial --qemu --baud --seconds --machine --icount --json --force" ;;
        "import "*) words="--output --workers --queue --drop-unknown --pointer-bits --json --force" ;;
        "bounds "*) words="--alignment --search --seed --lifetimes --queue --drop-unknown --pointer-bits --json --force" ;;
        "check "*) words="--plan --base --growth --strict --measure --markdown --report --program --base-program --queue --drop-unknown --pointer-bits --workers --cluster --json --force" ;;
        "sites "*) words="--program --plan --json" ;;
        "size "*) words="--admission --pool-sizes --overall --admission-by --overhead --buffer --closed-form --replications --seed --queue --report --drop-unknown --pointer-bits --workers --cluster --json --force" ;;
        "fit "*) words="--output --now --peak --margin --prefer --alignment --all --program --plans --front --allocators --by --sram --each --pools --effort --exact --budgets --budget-seconds --search --seed --objective --folds --draw --queue --drop-unknown --pointer-bits --call-sites --sized --workers --cluster --cache --json --force" ;;
        *) words="fit check verify generate record import workload profile sites compare bounds adversary allocators size settings simulate reproduce slotbuf" ;;
    esac
    [ "$COMP_CWORD" -gt 1 ] || words="fit check verify generate record import workload profile sites compare bounds adversary allocators size settings simulate reproduce slotbuf"
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word"; compgen -f -- "$word")
}
complete -o filenames -F _heapfit heapfit
