"""The league: data sets × ε × mechanisms × methods of inference, with rivals from their papers.

- `sets`: the data sets, and how a user adds one; `entries`: what competes, and what it promises.
- `cells`, `plan`: one run and its measures; which runs belong to a league.
- `results`, `comparisons`: means over seeds, and our default against the best rival.
- `figures`, `blocks`, `page`: what people look at.
- `tables`: the CSV files.
- `league_run`: all of it in one call.

Finished runs are kept in the store of the reproduction (`study/paper/store.py`).
"""
