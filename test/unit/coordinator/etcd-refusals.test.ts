import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server, ServerCredentials, type ServiceDefinition, status } from '@grpc/grpc-js';
import { CoordinatorUnavailableError, OutcomeUnknownError } from '../../../src/cluster/coordinator/coordinator.js';
import { rangeMethod, txnMethod, watchMethod } from '../../../src/cluster/coordinator/etcd/schema.js';
import { openEtcd } from '../../support/open-etcd.js';

const header = { clusterId: '1', revision: '7' };
/** Reads nothing, and refuses every change like this. Resolves to its address; `peers`: the connections that asked for changes. */
async function refusing(
  code: number,
  details: string,
): Promise<{ server: Server; endpoint: string; peers: Set<string> }> {
  const server = new Server();
  const peers = new Set<string>();
  const service = { Range: rangeMethod, Txn: txnMethod, Watch: watchMethod } as unknown as ServiceDefinition;
  type Answer = (error: object | null, answer?: object) => void;
  server.addService(service, {
    Range: (_call: object, answer: Answer) => answer(null, { header, kvs: [] }),
    Txn: (call: { getPeer(): string }, answer: Answer) => {
      peers.add(call.getPeer());
      answer({ code, details });
    },
    Watch: () => {},
  } as never);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { server, endpoint: `127.0.0.1:${port}`, peers };
}

for (const [what, code, details, expected] of [
  // etcd makes a change that takes the last of its space, and then says that there was none for it.
  ['no space', status.RESOURCE_EXHAUSTED, 'etcdserver: mvcc: database space exceeded', OutcomeUnknownError],
  ['too large', status.INVALID_ARGUMENT, 'etcdserver: request is too large', CoordinatorUnavailableError],
  ['no leader', status.UNAVAILABLE, 'etcdserver: no leader', CoordinatorUnavailableError],
  ['too slow', status.UNAVAILABLE, 'etcdserver: request timed out', OutcomeUnknownError],
  ['not by etcd', status.INVALID_ARGUMENT, 'no such service here', OutcomeUnknownError],
] as const)
  test(`a change that is refused (${what}) ${expected === OutcomeUnknownError ? 'may' : 'can not'} have been made`, async (t) => {
    const { server, endpoint } = await refusing(code, details);
    t.after(() => server.forceShutdown());
    await assert.rejects(openEtcd(t, [endpoint]).swap([{ key: 'k', expect: 0, value: 'v' }]), expected);
  });

for (const [what, code, details, connections] of [
  ['a change says nothing against the connection', status.INVALID_ARGUMENT, 'etcdserver: request is too large', 1],
  ['a token has the connection renewed', status.UNAUTHENTICATED, 'etcdserver: invalid auth token', 3],
  ['a change for want of a leader has another member asked', status.UNAVAILABLE, 'etcdserver: no leader', 3],
] as const)
  test(`a refusal of ${what}`, async (t) => {
    const { server, endpoint, peers } = await refusing(code, details);
    t.after(() => server.forceShutdown());
    const coordinator = openEtcd(t, [endpoint]);
    const swap = (): Promise<unknown> => coordinator.swap([{ key: 'k', expect: 0, value: 'v' }]);
    await assert.rejects(swap(), CoordinatorUnavailableError);
    if (connections === 1) for (let i = 0; i < 3; i++) await assert.rejects(swap(), CoordinatorUnavailableError);
    assert.equal(peers.size, connections);
  });
