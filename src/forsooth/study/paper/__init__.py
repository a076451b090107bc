"""The paper, reproduced claim by claim: what it says, what must be computed, what came out.

- `claims`: the fourteen claims as data; `readings`: the ways in which the text can be read.
- `cells`, `plan`: the pieces of work, and which of them a claim or a figure needs.
- `store`, `measuring`: finished pieces stay in the output folder, so that a killed run goes on.
- `results`, `evidence`: the numbers, mean and standard error over the repeats.
- `judging`, `facts`, `judges`, `verdicts`: from numbers to verdicts, by stated rules.
- `charts`, `figures`, `comparison`, `page`: what people look at.
- `reproduction`: all of it in one call.
"""
