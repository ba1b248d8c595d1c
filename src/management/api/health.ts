import { HttpError, requireStarted, type Resource } from '../resource.js';

/**
 * `GET /api/health`: 200 while this node serves clients and takes publishes; else 503 with the reason. While publishers wait for another
 * node's alarm it is 200 all the same: clients would be no better off elsewhere, and consumers must be let in, for they free what is short.
 */
export const healthRoutes: readonly Resource[] = [
  {
    path: '/api/health',
    needs: ['management', 'administrator'],
    get({ broker }) {
      const { node } = broker.options;
      if (broker.report === undefined) requireStarted(broker);
      if (!broker.isReady) throw new HttpError(503, 'joining', `node ${node} is not ready yet`);
      const { state } = broker.store.journal;
      if (state === 'failed') throw new HttpError(503, 'journal_failed', `the journal of node ${node} has failed`);
      const blocked = broker.broker.gate.closed;
      const { alarms } = broker.shortages;
      const isElsewhere = alarms.of(node).length === 0 && blocked === alarms.reason();
      if (blocked !== '' && !isElsewhere) throw new HttpError(503, 'blocked', `publishers must wait: ${blocked}`);
      return { status: 'ok', node, ...(blocked === '' ? {} : { blocked }) };
    },
  },
];
