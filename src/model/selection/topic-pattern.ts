import { topicWords } from '../exchange/topic.js';

/**
 * Whether a key matches one pattern of a topic exchange (AMQP 0-9-1 §3.1.3.3). Takes words of the pattern x words of the key steps; both
 * have 255 bytes at most where they are routing keys.
 */
export function topicPattern(pattern: string): (key: string) => boolean {
  const words = topicWords(pattern);
  return (key) => {
    // After how many words of the key the pattern up to here can be.
    const keyWords = topicWords(key);
    let reached: boolean[] = [true, ...keyWords.map(() => false)];
    for (const word of words) {
      const next: boolean[] = [];
      for (let i = 0; i <= keyWords.length; i++) {
        const before = i > 0 && reached[i - 1]!;
        if (word === '#') next.push(reached[i]! || (i > 0 && next[i - 1]!));
        else next.push(before && (word === '*' || word === keyWords[i - 1]));
      }
      reached = next;
    }
    return reached[keyWords.length]!;
  };
}
