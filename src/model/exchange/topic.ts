/**
 * Topic exchange: binding keys are patterns of words separated by dots; `*` stands for one word, `#` for any number,
 * none included (AMQP 0-9-1 §3.1.3.3).
 *
 * The patterns lie in a trie by words. Matching walks it like a non-deterministic automaton: after each word of the key it
 * has the set of all nodes that the words so far can lead to, each node once. So the cost is at most words x nodes
 * reached, also for patterns like "#.a.#.a.#.a.#", where trying one way after the other takes exponential time.
 */
import type { BindingObject } from '../wiring/objects.js';
import type { Matcher, Reached } from './matcher.js';
import type { Target } from './target.js';
import { TargetSet } from './target-set.js';

class Node {
  /** A `#`: it takes any further words. */
  readonly many: boolean;
  /** Most nodes have one word after them: it has a place of its own, the others are in the map. */
  private firstWord = '';
  private first: Node | undefined = undefined;
  private others: Map<string, Node> | undefined = undefined;
  star: Node | undefined = undefined;
  hash: Node | undefined = undefined;
  /** The targets of patterns that end here. */
  targets: TargetSet | undefined = undefined;
  /** The step of matching in which it was last entered. */
  step = 0;

  constructor(many: boolean) {
    this.many = many;
  }

  /** The node after a word of a key. */
  after(word: string): Node | undefined {
    return this.firstWord === word && this.first !== undefined ? this.first : this.others?.get(word);
  }

  /** The node after a word of a pattern. */
  child(word: string): Node | undefined {
    if (word === '*') return this.star;
    if (word === '#') return this.hash;
    return this.after(word);
  }

  grow(word: string): Node {
    const node = new Node(word === '#');
    if (word === '*') this.star = node;
    else if (word === '#') this.hash = node;
    else if (this.first === undefined) {
      this.firstWord = word;
      this.first = node;
    } else {
      this.others ??= new Map();
      this.others.set(word, node);
    }
    return node;
  }

  prune(word: string): void {
    if (word === '*') this.star = undefined;
    else if (word === '#') this.hash = undefined;
    else if (this.first !== undefined && this.firstWord === word) {
      this.firstWord = '';
      this.first = undefined;
    } else {
      this.others?.delete(word);
      if (this.others?.size === 0) this.others = undefined;
    }
  }

  get empty(): boolean {
    return this.targets === undefined && this.star === undefined && this.hash === undefined && this.wordless;
  }

  private get wordless(): boolean {
    return this.first === undefined && this.others === undefined;
  }
}

/** The words of a key or pattern; the empty one has none. */
export function topicWords(key: string): string[] {
  return key === '' ? [] : key.split('.');
}

export class TopicMatcher implements Matcher {
  private readonly root = new Node(false);
  private step = 0;
  private current: Node[] = [];
  private next: Node[] = [];

  add(binding: BindingObject, target: Target): void {
    let node = this.root;
    for (const word of topicWords(binding.routingKey)) node = node.child(word) ?? node.grow(word);
    node.targets ??= new TargetSet();
    node.targets.add(target);
  }

  remove(binding: BindingObject, target: Target): void {
    const words = topicWords(binding.routingKey);
    const path: Node[] = [this.root];
    for (const word of words) {
      const node = path.at(-1)!.child(word);
      if (node === undefined) return;
      path.push(node);
    }
    const end = path.at(-1)!;
    end.targets?.remove(target);
    if (end.targets?.size === 0) end.targets = undefined;
    for (let depth = words.length; depth > 0 && path[depth]!.empty; depth--) path[depth - 1]!.prune(words[depth - 1]!);
  }

  match(routingKey: string, reached: Reached): void {
    this.current.length = 0;
    this.step++;
    this.enter(this.root, this.current);
    for (const word of topicWords(routingKey)) {
      this.advance(word);
      if (this.current.length === 0) return;
    }
    for (const node of this.current) node.targets?.reach(reached);
  }

  private advance(word: string): void {
    const from = this.current;
    const to = this.next;
    to.length = 0;
    this.step++;
    for (let i = 0; i < from.length; i++) {
      const node = from[i]!;
      if (node.many) this.enter(node, to);
      const child = node.after(word);
      if (child !== undefined) this.enter(child, to);
      if (node.star !== undefined) this.enter(node.star, to);
    }
    this.current = to;
    this.next = from;
  }

  /** A node is reached, and with it the `#` after it, which may stand for nothing. */
  private enter(node: Node, into: Node[]): void {
    let entered: Node | undefined = node;
    while (entered !== undefined && entered.step !== this.step) {
      entered.step = this.step;
      into.push(entered);
      entered = entered.hash;
    }
  }
}
