"""Writes tables for people, in columns that line up in a terminal."""
_MOST_ROWS = 60


def text_of(table, columns):
    """Returns these columns of a data frame, in lines without an end. The first rows stand for many.

    The last column is aligned to the left and has no padding, so texts of any width may be in it.
    """
    rows = [[_shown(value) for value in row] for row in table[columns].head(_MOST_ROWS).itertuples(index=False)]
    widths = [max(map(len, cells)) for cells in zip(columns, *rows)]
    lines = ["  ".join([*(cell.rjust(width) for cell, width in zip(row[:-1], widths)), row[-1]]) for row in [columns, *rows]]
    if len(table) > _MOST_ROWS:
        lines.append(f"rows left out: {len(table) - _MOST_ROWS}")
    return "\n".join(lines)


def _shown(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return "".join(character if character.isprintable() else "?" for character in str(value))
