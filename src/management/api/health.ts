import { HttpError, requireStarted, type Resource } from '../resource.js';

/** `GET /api/health`: 200 while this node serves clients and takes publishes; else 503 with the reason. */
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
      if (blocked !== '') throw new HttpError(503, 'blocked', `publishers must wait: ${blocked}`);
      return { status: 'ok', node };
    },
  },
];
