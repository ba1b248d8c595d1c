import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server, ServerCredentials, type ServiceDefinition, status } from '@grpc/grpc-js';
import { CoordinatorUnavailableError, OutcomeUnknownError } from '../../../src/cluster/coordinator/coordinator.js';
import { rangeMethod, txnMethod } from '../../../src/cluster/coordinator/etcd/schema.js';
import { openEtcd } from '../../support/open-etcd.js';

const header = { clusterId: '1', revision: '7' };
/** Reads nothing, and refuses every change like this. Resolves to its address. */
async function refusing(code: number, details: string): Promise<{ server: Server; endpoint: string }> {
  const server = new Server();
  const service = { Range: rangeMethod, Txn: txnMethod } as unknown as ServiceDefinition;
  type Answer = (error: object | null, answer?: object) => void;
  server.addService(service, {
    Range: (_call: object, answer: Answer) => answer(null, { header, kvs: [] }),
    Txn: (_call: object, answer: Answer) => answer({ code, details }),
  } as never);
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  return { server, endpoint: `127.0.0.1:${port}` };
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
