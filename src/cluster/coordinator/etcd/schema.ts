/**
 * The part of etcd's API that is used here (v3: rpc.proto, kv.proto, auth.proto; numbers of fields are theirs), in protobuf.js's
 * JSON form, which needs no files at run time; and the shapes of its messages in this program: 64-bit numbers are decimal texts,
 * bytes are buffers, what was not sent has its default, and a message that was not sent is null.
 */
import { fromJSON, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';

/** Begins every answer. */
export interface Header {
  clusterId: string;
  /** Of the store, when the answer was given; it grows with every change. */
  revision: string;
}

export interface KeyValue {
  key: Buffer;
  value: Buffer;
  /** When this key was last changed. */
  modRevision: string;
}

export interface RangeRequest {
  key: Buffer;
  /** The first key beyond the range; without: that one key. */
  rangeEnd?: Buffer;
}

export interface RangeAnswer {
  header: Header;
  kvs: KeyValue[];
}

/** Holds if the key was last changed at that revision; 0: if it does not exist. */
export interface Compare {
  result: 'EQUAL';
  target: 'MOD';
  key: Buffer;
  modRevision: number;
}

export type RequestOp =
  | { requestRange: RangeRequest }
  | { requestPut: { key: Buffer; value: Buffer } }
  | { requestDeleteRange: { key: Buffer } };

export interface TxnRequest {
  compare: Compare[];
  success: RequestOp[];
  failure: RequestOp[];
}

export interface TxnAnswer {
  header: Header;
  succeeded: boolean;
  responses: { responseRange: { kvs: KeyValue[] } | null }[];
}

export interface WatchRequest {
  createRequest: { key: Buffer; rangeEnd: Buffer; startRevision: number };
}

export interface WatchAnswer {
  header: Header;
  /** The watch has ended, for this reason. */
  canceled: boolean;
  cancelReason: string;
  /** Not 0: what was asked for is compacted away, up to here. */
  compactRevision: string;
  /** In order; of a deletion `kv` has no value. */
  events: { type: 'PUT' | 'DELETE'; kv: KeyValue }[];
}

export interface AuthenticateRequest {
  name: string;
  password: string;
}

export interface AuthenticateAnswer {
  header: Header;
  /** Later requests carry it. */
  token: string;
}

type Fields = Record<string, { type: string; id: number; rule?: 'repeated' }>;

const message = (fields: Fields): { fields: Fields } => ({ fields });

const keyValues = {
  ResponseHeader: message({ clusterId: { type: 'uint64', id: 1 }, revision: { type: 'int64', id: 3 } }),
  KeyValue: message({
    key: { type: 'bytes', id: 1 },
    modRevision: { type: 'int64', id: 3 },
    value: { type: 'bytes', id: 5 },
  }),
  RangeRequest: message({ key: { type: 'bytes', id: 1 }, rangeEnd: { type: 'bytes', id: 2 } }),
  RangeResponse: message({
    header: { type: 'ResponseHeader', id: 1 },
    kvs: { rule: 'repeated', type: 'KeyValue', id: 2 },
  }),
  PutRequest: message({ key: { type: 'bytes', id: 1 }, value: { type: 'bytes', id: 2 } }),
  DeleteRangeRequest: message({ key: { type: 'bytes', id: 1 } }),
};

const transactions = {
  CompareResult: { values: { EQUAL: 0 } },
  CompareTarget: { values: { VERSION: 0, CREATE: 1, MOD: 2, VALUE: 3 } },
  Compare: {
    ...message({
      result: { type: 'CompareResult', id: 1 },
      target: { type: 'CompareTarget', id: 2 },
      key: { type: 'bytes', id: 3 },
      modRevision: { type: 'int64', id: 6 },
    }),
    oneofs: { targetUnion: { oneof: ['modRevision'] } },
  },
  RequestOp: {
    ...message({
      requestRange: { type: 'RangeRequest', id: 1 },
      requestPut: { type: 'PutRequest', id: 2 },
      requestDeleteRange: { type: 'DeleteRangeRequest', id: 3 },
    }),
    oneofs: { request: { oneof: ['requestRange', 'requestPut', 'requestDeleteRange'] } },
  },
  ResponseOp: message({ responseRange: { type: 'RangeResponse', id: 1 } }),
  TxnRequest: message({
    compare: { rule: 'repeated', type: 'Compare', id: 1 },
    success: { rule: 'repeated', type: 'RequestOp', id: 2 },
    failure: { rule: 'repeated', type: 'RequestOp', id: 3 },
  }),
  TxnResponse: message({
    header: { type: 'ResponseHeader', id: 1 },
    succeeded: { type: 'bool', id: 2 },
    responses: { rule: 'repeated', type: 'ResponseOp', id: 3 },
  }),
};

const watches = {
  EventType: { values: { PUT: 0, DELETE: 1 } },
  Event: message({ type: { type: 'EventType', id: 1 }, kv: { type: 'KeyValue', id: 2 } }),
  WatchCreateRequest: message({
    key: { type: 'bytes', id: 1 },
    rangeEnd: { type: 'bytes', id: 2 },
    startRevision: { type: 'int64', id: 3 },
  }),
  WatchRequest: message({ createRequest: { type: 'WatchCreateRequest', id: 1 } }),
  WatchResponse: message({
    header: { type: 'ResponseHeader', id: 1 },
    canceled: { type: 'bool', id: 4 },
    compactRevision: { type: 'int64', id: 5 },
    cancelReason: { type: 'string', id: 6 },
    events: { rule: 'repeated', type: 'Event', id: 11 },
  }),
};

const users = {
  AuthenticateRequest: message({ name: { type: 'string', id: 1 }, password: { type: 'string', id: 2 } }),
  AuthenticateResponse: message({ header: { type: 'ResponseHeader', id: 1 }, token: { type: 'string', id: 2 } }),
};

const services = {
  KV: {
    methods: {
      Range: { requestType: 'RangeRequest', responseType: 'RangeResponse' },
      Txn: { requestType: 'TxnRequest', responseType: 'TxnResponse' },
    },
  },
  Watch: {
    methods: {
      Watch: { requestType: 'WatchRequest', requestStream: true, responseType: 'WatchResponse', responseStream: true },
    },
  },
  Auth: {
    methods: { Authenticate: { requestType: 'AuthenticateRequest', responseType: 'AuthenticateResponse' } },
  },
};

const nested = { ...services, ...keyValues, ...transactions, ...watches, ...users };
// Its type asks for comments on every method.
const schema = { nested: { etcdserverpb: { nested } } } as unknown as Parameters<typeof fromJSON>[0];
const loaded = fromJSON(schema, { longs: String, enums: String, defaults: true });

function method<Request extends object, Answer extends object>(
  service: keyof typeof services,
  name: string,
): MethodDefinition<Request, Answer> {
  const definition: unknown = (loaded[`etcdserverpb.${service}`] as ServiceDefinition)[name];
  return definition as MethodDefinition<Request, Answer>;
}

/** Reads keys: linearizable, as all requests are that do not say otherwise. */
export const rangeMethod: MethodDefinition<RangeRequest, RangeAnswer> = method('KV', 'Range');
export const txnMethod: MethodDefinition<TxnRequest, TxnAnswer> = method('KV', 'Txn');
export const watchMethod: MethodDefinition<WatchRequest, WatchAnswer> = method('Watch', 'Watch');
export const authenticateMethod: MethodDefinition<AuthenticateRequest, AuthenticateAnswer> = method(
  'Auth',
  'Authenticate',
);
