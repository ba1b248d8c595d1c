import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { test } from 'node:test';
import { ClusterSecret } from '../../../src/cluster/link/cluster-secret.js';
import { FrameError } from '../../../src/cluster/link/frame.js';
import { FrameType } from '../../../src/cluster/link/frame-types.js';
import { Handshake } from '../../../src/cluster/link/handshake.js';

const secret = new ClusterSecret('what all of them know');
const other = new ClusterSecret('what all of them knew');
const hello = Buffer.from('{"node":"n1"}');

const dialer = (own = secret): Handshake => new Handshake(own, true, randomBytes(32));
const acceptor = (own = secret): Handshake => new Handshake(own, false, randomBytes(32));

/** What the dialer says to the acceptor's challenge. */
function answerOf(from: Handshake, to: Handshake): Uint8Array {
  return from.take(FrameType.challenge, to.begin()!.payload)!.payload;
}

/** Both ends, each with the other's proof. */
function proven(): { near: Handshake; far: Handshake } {
  const [near, far] = [dialer(), acceptor()];
  const proof = far.take(FrameType.answer, answerOf(near, far))!;
  assert.equal(near.take(proof.type, proof.payload), undefined);
  return { near, far };
}

const refusal = (message: RegExp) => (error: unknown) => {
  assert.ok(error instanceof FrameError);
  assert.match(error.message, message);
  return true;
};

test('ends with the same secret prove it to each other and seal their hellos', () => {
  const { near, far } = proven();
  assert.ok(near.proven && far.proven);
  assert.deepEqual(Buffer.from(far.unseal(near.seal(hello))), hello);
  assert.deepEqual(Buffer.from(near.unseal(far.seal(Buffer.from('n2')))), Buffer.from('n2'));
});

test('another secret, or none, proves nothing, and gets no proof in return', () => {
  for (const [own, theirs] of [
    [other, secret],
    [ClusterSecret.none, secret],
    [secret, ClusterSecret.none],
  ] as const) {
    const [near, far] = [dialer(own), acceptor(theirs)];
    const answer = answerOf(near, far);
    assert.throws(() => far.take(FrameType.answer, answer), refusal(/another secret, or none/));
    assert.ok(!far.proven);
  }
});

test('an acceptor without the secret is found out before anything was said to it', () => {
  const near = dialer();
  answerOf(near, acceptor(other));
  assert.throws(() => near.take(FrameType.proof, randomBytes(32)), refusal(/another secret, or none/));
  assert.throws(() => near.take(FrameType.proof, new Uint8Array(0)), refusal(/another secret, or none/));
  assert.ok(!near.proven);
});

test('an answer to an earlier challenge proves nothing', () => {
  const [near, far] = [dialer(), acceptor()];
  const answer = answerOf(near, far);
  far.take(FrameType.answer, answer);
  const later = acceptor();
  later.begin();
  assert.throws(() => later.take(FrameType.answer, answer), refusal(/proof of the cluster secret is wrong/));
});

test('a proof is of no use in the other direction', () => {
  const [near, far] = [dialer(), acceptor()];
  const answer = answerOf(near, far);
  assert.throws(() => near.take(FrameType.proof, answer.slice(33)), refusal(/proof of the cluster secret is wrong/));
  const ends = proven();
  const sealed = ends.near.seal(hello);
  assert.throws(() => ends.near.unseal(sealed), refusal(/seal/));
});

test('our own challenge is known when it comes back', () => {
  const far = acceptor();
  const challenge = far.begin()!.payload;
  assert.ok(far.issued(challenge.slice()));
  assert.ok(!acceptor().issued(challenge));
  assert.ok(!dialer().issued(new Uint8Array(0)), 'a dialer has issued none');
});

test('any changed byte of an answer, or of a hello, is noticed', () => {
  const [near, far] = [dialer(), acceptor()];
  const answer = answerOf(near, far);
  for (let at = 0; at < answer.length; at++) {
    const bent = answer.slice();
    bent[at]! ^= 1;
    assert.throws(() => far.take(FrameType.answer, bent), FrameError, `byte ${at}`);
  }
  const ends = proven();
  const sealed = ends.near.seal(hello);
  for (let at = 0; at < sealed.length; at++) {
    const bent = sealed.slice();
    bent[at]! ^= 1;
    assert.throws(() => ends.far.unseal(bent), FrameError, `byte ${at}`);
  }
});

test('whatever is cut short is refused, wherever it is cut', () => {
  const [near, far] = [dialer(), acceptor()];
  const challenge = far.begin()!.payload;
  for (let length = 0; length < challenge.length; length++)
    assert.throws(() => near.take(FrameType.challenge, challenge.slice(0, length)), refusal(/cut short/));
  const answer = answerOf(near, far);
  for (let length = 0; length < answer.length; length++)
    assert.throws(() => far.take(FrameType.answer, answer.slice(0, length)), refusal(/cut short/));
  const ends = proven();
  const sealed = ends.near.seal(hello);
  for (let length = 0; length < sealed.length; length++)
    assert.throws(() => ends.far.unseal(sealed.slice(0, length)), refusal(/seal/));
});

test('a challenge may grow at its end: a later version may add to it', () => {
  const [near, far] = [dialer(), acceptor()];
  const longer = Buffer.concat([far.begin()!.payload, Buffer.from('more')]);
  assert.equal(near.take(FrameType.challenge, longer)!.type, FrameType.answer);
});

test('versions that have nothing in common are named, and an offer cannot be made smaller unnoticed', () => {
  const [near, far] = [dialer(), acceptor()];
  const challenge = far.begin()!.payload;
  const offer = (min: number, max: number): Uint8Array => Buffer.concat([Uint8Array.of(min, max), challenge.slice(2)]);
  assert.throws(() => near.take(FrameType.challenge, offer(2, 3)), refusal(/by version 2 to 3, we by 1 to 1/));
  assert.throws(() => near.take(FrameType.challenge, offer(0, 0)), refusal(/by version 0 to 0/));
  const answer = near.take(FrameType.challenge, offer(1, 9))!.payload;
  const wrong = answer.slice();
  wrong[0] = 2;
  assert.throws(() => far.take(FrameType.answer, wrong), refusal(/by version 2, we by 1 to 1/));
  assert.throws(() => far.take(FrameType.answer, answer), refusal(/proof of the cluster secret is wrong/));
});

test('nothing else is listened to before the proof', () => {
  for (const type of [FrameType.hello, FrameType.decline, FrameType.ping, FrameType.batch, FrameType.proof]) {
    const far = acceptor();
    far.begin();
    assert.throws(() => far.take(type, new Uint8Array(64)), refusal(/before the cluster secret was proved/));
  }
});

test('the secret does not show', () => {
  for (const text of [inspect(secret, { depth: 9, showHidden: true }), JSON.stringify(secret), String(secret)])
    assert.ok(!text.includes('what all'), text);
});
