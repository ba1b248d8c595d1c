/** The coordinator's contract, kept by an etcd of three members. */
import { after, before } from 'node:test';
import { EtcdProcesses } from '../support/etcd-processes.js';
import { openEtcd } from '../support/open-etcd.js';
import { coordinatorContract } from '../unit/coordinator/contract.js';
import { realRandom } from '../unit/coordinator/ports.js';

let etcd: EtcdProcesses;
before(async () => {
  etcd = await EtcdProcesses.start();
});
after(() => etcd[Symbol.asyncDispose]());

coordinatorContract('etcd', async (context) => {
  const { endpoints } = etcd;
  const prefix = `/${realRandom.hex(8)}`;
  return {
    open: async () => openEtcd(context, endpoints, { prefix }),
    dispose: async () => {},
  };
});
