# SPDX-License-Identifier: Apache-2.0
# Groups readings by sensor and hour, ranks words, forgets old hours: perl index.pl HOURS
use strict;
use warnings;

my $hours = shift;
my (%by_hour, %words);
while (my $line = <STDIN>) {
    chomp $line;
    my ($time, $sensor, $kind, $value, @note) = split / /, $line;
    my $hour = int($time / 3600);
    push @{ $by_hour{$hour}{$sensor}{$kind} }, [$time, $value];
    $words{ join ' ', @note[0 .. ($#note < 1 ? $#note : 1)] }++;
    delete $by_hour{$_} for grep { $_ <= $hour - $hours } keys %by_hour;
}
my @ranked = sort { $words{$b} <=> $words{$a} || $a cmp $b } keys %words;
print scalar(@ranked), " ", scalar(keys %by_hour), "\n";
