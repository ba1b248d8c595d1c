import { topicWords } from '../exchange/topic.js';

/** Bytes of a pattern, as of any routing key; and characters of a key: longer ones match no pattern, so that a match has a bound. */
export const topicPatternMax = 255;

/** Whether a key matches one pattern of a topic exchange (AMQP 0-9-1 §3.1.3.3). */
export function topicPattern(pattern: string): (key: string) => boolean {
  const pieces = piecesOf(topicWords(pattern));
  const last = pieces.length - 1;
  return (key) => {
    if (key.length > topicPatternMax) return false;
    const words = topicWords(key);
    const first = pieces[0]!;
    if (last === 0) return words.length === first.length && fits(first, words, 0);
    const end = words.length - pieces[last]!.length;
    if (end < first.length || !fits(first, words, 0) || !fits(pieces[last]!, words, end)) return false;
    let at = first.length;
    for (let i = 1; i < last; i++) {
      const piece = pieces[i]!;
      // The earliest place leaves most room for those that follow.
      while (at + piece.length <= end && !fits(piece, words, at)) at++;
      if (at + piece.length > end) return false;
      at += piece.length;
    }
    return true;
  };
}

/** What stands between the `#`. */
function piecesOf(words: readonly string[]): string[][] {
  const pieces: string[][] = [[]];
  for (const word of words)
    if (word === '#') pieces.push([]);
    else pieces.at(-1)!.push(word);
  return pieces;
}

function fits(piece: readonly string[], words: readonly string[], at: number): boolean {
  for (let i = 0; i < piece.length; i++) if (piece[i] !== '*' && piece[i] !== words[at + i]) return false;
  return true;
}
