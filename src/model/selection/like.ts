/** The pattern of a LIKE: `%` is any characters, `_` is one, and what follows the escape character is itself. */

/** Longer texts are not looked at, so that a match has a bound. */
export const likeTextMax = 4096;

/** One character of a pattern, in code units: a character, or this for `_`. */
const anyOne = -1;

/** @returns undefined if the escape character stands before something else than `%`, `_` or itself. */
export function likeMatcher(pattern: string, escape: string): ((text: string) => boolean) | undefined {
  const pieces = piecesOf(pattern, escape);
  if (pieces === undefined) return undefined;
  if (pieces.length === 1) {
    const [only] = pieces as [number[]];
    return (text) => text.length === only.length && fits(only, text, 0);
  }
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  const inner = pieces.slice(1, -1).filter((piece) => piece.length > 0);
  return (text) => {
    if (text.length < first.length + last.length || !fits(first, text, 0)) return false;
    const end = text.length - last.length;
    if (!fits(last, text, end)) return false;
    let at = first.length;
    for (const piece of inner) {
      // The earliest place leaves most room for those that follow.
      while (at + piece.length <= end && !fits(piece, text, at)) at++;
      if (at + piece.length > end) return false;
      at += piece.length;
    }
    return true;
  };
}

/** What stands between the `%`. */
function piecesOf(pattern: string, escape: string): number[][] | undefined {
  const pieces: number[][] = [[]];
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i]!;
    if (escape !== '' && char === escape) {
      const next = pattern[++i];
      if (next !== '%' && next !== '_' && next !== escape) return undefined;
      pieces.at(-1)!.push(next.charCodeAt(0));
    } else if (char === '%') pieces.push([]);
    else pieces.at(-1)!.push(char === '_' ? anyOne : char.charCodeAt(0));
  }
  return pieces;
}

function fits(piece: readonly number[], text: string, at: number): boolean {
  for (let i = 0; i < piece.length; i++) {
    const one = piece[i]!;
    if (one !== anyOne && one !== text.charCodeAt(at + i)) return false;
  }
  return true;
}
