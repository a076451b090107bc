"""The paper, reproduced claim by claim: what it says, what must be computed, what came out.

- `claims`: the claims as data; `readings`: how the text can be read, and forsooth's own choices.
- `cells`, `quality`: the pieces of work; `scopes`, `plan`: which of them a claim or a figure needs.
- `store`, `measuring`: finished pieces stay in the output folder, so that a killed run goes on.
- `results`, `evidence`: the numbers, mean and standard error over the repeats.
- `judging`, `commented`, `facts`, `judges`, `verdicts`: from numbers to verdicts, by stated rules.
- `charts`, `panels`, `figures`, `comparison`, `page`: what people look at.
- `reproduction`: all of it in one call.
"""
