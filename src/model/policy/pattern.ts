/**
 * Regular expressions that are matched in time proportional to pattern x name, whatever both are: somebody's policy is tried on
 * the names of all queues, and must not stop the broker. All ways through the pattern are followed at once, character by
 * character, as sets of places in a small program.
 */
import { type CharacterSet, isWord, PatternError, parsePattern, type PatternNode } from './pattern-parser.js';

/** Characters of a pattern, and steps of its program, at most: a name of 255 characters then takes a few milliseconds. */
export const patternLengthMax = 1024;
const stepsMax = 2000;

const Op = { set: 0, split: 1, start: 2, end: 3, boundary: 4, inside: 5, match: 6 } as const;
type Op = (typeof Op)[keyof typeof Op];

interface Step {
  readonly op: Op;
  readonly set: CharacterSet | undefined;
  /** Where it goes on; a split at both. */
  to: number;
  other: number;
}

/** Is found anywhere in a name, unless it is anchored. */
export class Pattern {
  private readonly steps: Step[] = [];
  /** Per step: the round in which it was reached last. */
  private readonly reached: Int32Array;

  /** @throws PatternError with what is wrong. */
  constructor(text: string) {
    if (text.length > patternLengthMax) throw new PatternError(`it is longer than ${patternLengthMax} characters`);
    this.emit(parsePattern(text));
    this.add(Op.match);
    this.reached = new Int32Array(this.steps.length);
  }

  matches(name: string): boolean {
    const { steps, reached } = this;
    const characters = Array.from(name, (character) => character.codePointAt(0)!);
    reached.fill(-1);
    let present: number[] = [];
    for (let at = 0; at <= characters.length; at++) {
      // A match may begin at each character.
      if (this.reach(0, at, characters, present)) return true;
      if (at === characters.length) return false;
      const following: number[] = [];
      for (const place of present) {
        const step = steps[place]!;
        if (step.set!(characters[at]!) && this.reach(step.to, at + 1, characters, following)) return true;
      }
      present = following;
    }
    return false;
  }

  /** Goes on from a step to all that wait for the character at `at`. True if the end of the pattern is among them. */
  private reach(from: number, at: number, characters: readonly number[], places: number[]): boolean {
    const { steps, reached } = this;
    const stack = [from];
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      if (reached[place] === at) continue;
      reached[place] = at;
      const step = steps[place]!;
      if (step.op === Op.match) return true;
      if (step.op === Op.set) places.push(place);
      else if (step.op === Op.split) stack.push(step.other, step.to);
      else if (holds(step.op, at, characters)) stack.push(step.to);
    }
    return false;
  }

  private add(op: Op, set?: CharacterSet): Step {
    if (this.steps.length >= stepsMax) throw new PatternError(`it is too large: more than ${stepsMax} steps`);
    const step = { op, set, to: this.steps.length + 1, other: 0 };
    this.steps.push(step);
    return step;
  }

  /** Appends the node's steps; whoever comes after it is next. */
  private emit(node: PatternNode): void {
    switch (node.kind) {
      case 'set':
        this.add(Op.set, node.set);
        break;
      case 'sequence':
        for (const part of node.nodes) this.emit(part);
        break;
      case 'alternatives':
        this.emitAlternatives(node.nodes);
        break;
      case 'repeat':
        this.emitRepeat(node.node, node.min, node.max);
        break;
      default:
        this.add(Op[node.kind]);
    }
  }

  private emitAlternatives(nodes: readonly PatternNode[]): void {
    const ends: Step[] = [];
    nodes.forEach((node, index) => {
      if (index === nodes.length - 1) {
        this.emit(node);
        return;
      }
      const split = this.add(Op.split);
      this.emit(node);
      ends.push(this.jump());
      split.other = this.steps.length;
    });
    for (const end of ends) this.leadTo(end, this.steps.length);
  }

  private emitRepeat(node: PatternNode, min: number, max: number): void {
    for (let i = 0; i < min; i++) this.emit(node);
    if (max === Number.POSITIVE_INFINITY) {
      const begin = this.steps.length;
      const split = this.add(Op.split);
      this.emit(node);
      this.leadTo(this.jump(), begin);
      split.other = this.steps.length;
      return;
    }
    const splits: Step[] = [];
    for (let i = min; i < max; i++) {
      splits.push(this.add(Op.split));
      this.emit(node);
    }
    for (const split of splits) split.other = this.steps.length;
  }

  /** A split both of whose ways are the same. */
  private jump(): Step {
    return this.add(Op.split);
  }

  private leadTo(jump: Step, place: number): void {
    jump.to = place;
    jump.other = place;
  }
}

function holds(op: Op, at: number, characters: readonly number[]): boolean {
  if (op === Op.start) return at === 0;
  if (op === Op.end) return at === characters.length;
  const before = at > 0 && isWord(characters[at - 1]!);
  const after = at < characters.length && isWord(characters[at]!);
  return (before !== after) === (op === Op.boundary);
}
