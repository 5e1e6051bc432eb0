# SPDX-License-Identifier: Apache-2.0
# Parts that are booked in and out of shelves, and lists of them: mruby stock.rb SEED STEPS SHELVES TEXT
seed, steps, shelves, text = ARGV.map { |word| word.to_i }
$state = seed * 48_271 + 11

def drawn(below)
  $state = ($state * 16_807) % 2_147_483_647
  $state % below
end

class Part
  attr_reader :number, :note
  def initialize(number, note)
    @number = number
    @note = note
  end
end

stock = {}
steps.times do |step|
  shelf = "shelf-#{drawn(shelves)}"
  parts = (stock[shelf] ||= [])
  parts << Part.new(step, "note " * (1 + drawn(text)))
  parts.shift while parts.size > 6 + drawn(10)
  if drawn(25) == 0
    list = stock.map { |name, held| "#{name}: #{held.map { |part| part.number }.join(',')}" }
    list.sort.first(3).join("\n")
  end
  stock.delete("shelf-#{drawn(shelves)}") if drawn(40) == 0
end
