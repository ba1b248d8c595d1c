// Generated from tools/codegen/amqp091.json by tools/codegen/main.ts. Do not edit.
import type { ByteReader } from '../../../wire/byte-reader.js';
import { type AccessMethod, AccessRequest, AccessRequestOk } from './access.js';
import {
  BasicAck,
  BasicCancel,
  BasicCancelOk,
  BasicConsume,
  BasicConsumeOk,
  BasicDeliver,
  BasicGet,
  BasicGetEmpty,
  BasicGetOk,
  type BasicMethod,
  BasicNack,
  BasicPublish,
  BasicQos,
  BasicQosOk,
  BasicRecover,
  BasicRecoverAsync,
  BasicRecoverOk,
  BasicReject,
  BasicReturn,
} from './basic.js';
import {
  ChannelClose,
  ChannelCloseOk,
  ChannelFlow,
  ChannelFlowOk,
  type ChannelMethod,
  ChannelOpen,
  ChannelOpenOk,
} from './channel.js';
import { type ConfirmMethod, ConfirmSelect, ConfirmSelectOk } from './confirm.js';
import {
  ConnectionBlocked,
  ConnectionClose,
  ConnectionCloseOk,
  type ConnectionMethod,
  ConnectionOpen,
  ConnectionOpenOk,
  ConnectionSecure,
  ConnectionSecureOk,
  ConnectionStart,
  ConnectionStartOk,
  ConnectionTune,
  ConnectionTuneOk,
  ConnectionUnblocked,
  ConnectionUpdateSecret,
  ConnectionUpdateSecretOk,
} from './connection.js';
import {
  ExchangeBind,
  ExchangeBindOk,
  ExchangeDeclare,
  ExchangeDeclareOk,
  ExchangeDelete,
  ExchangeDeleteOk,
  type ExchangeMethod,
  ExchangeUnbind,
  ExchangeUnbindOk,
} from './exchange.js';
import { MethodId } from './ids.js';
import {
  QueueBind,
  QueueBindOk,
  QueueDeclare,
  QueueDeclareOk,
  QueueDelete,
  QueueDeleteOk,
  type QueueMethod,
  QueuePurge,
  QueuePurgeOk,
  QueueUnbind,
  QueueUnbindOk,
} from './queue.js';
import { TxCommit, TxCommitOk, type TxMethod, TxRollback, TxRollbackOk, TxSelect, TxSelectOk } from './tx.js';

export * from './access.js';
export * from './basic.js';
export * from './channel.js';
export * from './confirm.js';
export * from './connection.js';
export * from './exchange.js';
export * from './queue.js';
export * from './tx.js';

/** Any method; `id` tells which. */
export type Method =
  | ConnectionMethod
  | ChannelMethod
  | AccessMethod
  | ExchangeMethod
  | QueueMethod
  | BasicMethod
  | ConfirmMethod
  | TxMethod;

/** Reads the arguments of the method `id`; undefined if there is no such method. Throws DecodeError. */
export function decodeArguments(id: number, reader: ByteReader): Method | undefined {
  switch (id) {
    case MethodId.connectionStart:
      return ConnectionStart.decode(reader);
    case MethodId.connectionStartOk:
      return ConnectionStartOk.decode(reader);
    case MethodId.connectionSecure:
      return ConnectionSecure.decode(reader);
    case MethodId.connectionSecureOk:
      return ConnectionSecureOk.decode(reader);
    case MethodId.connectionTune:
      return ConnectionTune.decode(reader);
    case MethodId.connectionTuneOk:
      return ConnectionTuneOk.decode(reader);
    case MethodId.connectionOpen:
      return ConnectionOpen.decode(reader);
    case MethodId.connectionOpenOk:
      return ConnectionOpenOk.decode(reader);
    case MethodId.connectionClose:
      return ConnectionClose.decode(reader);
    case MethodId.connectionCloseOk:
      return ConnectionCloseOk.decode(reader);
    case MethodId.connectionBlocked:
      return ConnectionBlocked.decode(reader);
    case MethodId.connectionUnblocked:
      return ConnectionUnblocked.decode(reader);
    case MethodId.connectionUpdateSecret:
      return ConnectionUpdateSecret.decode(reader);
    case MethodId.connectionUpdateSecretOk:
      return ConnectionUpdateSecretOk.decode(reader);
    case MethodId.channelOpen:
      return ChannelOpen.decode(reader);
    case MethodId.channelOpenOk:
      return ChannelOpenOk.decode(reader);
    case MethodId.channelFlow:
      return ChannelFlow.decode(reader);
    case MethodId.channelFlowOk:
      return ChannelFlowOk.decode(reader);
    case MethodId.channelClose:
      return ChannelClose.decode(reader);
    case MethodId.channelCloseOk:
      return ChannelCloseOk.decode(reader);
    case MethodId.accessRequest:
      return AccessRequest.decode(reader);
    case MethodId.accessRequestOk:
      return AccessRequestOk.decode(reader);
    case MethodId.exchangeDeclare:
      return ExchangeDeclare.decode(reader);
    case MethodId.exchangeDeclareOk:
      return ExchangeDeclareOk.decode(reader);
    case MethodId.exchangeDelete:
      return ExchangeDelete.decode(reader);
    case MethodId.exchangeDeleteOk:
      return ExchangeDeleteOk.decode(reader);
    case MethodId.exchangeBind:
      return ExchangeBind.decode(reader);
    case MethodId.exchangeBindOk:
      return ExchangeBindOk.decode(reader);
    case MethodId.exchangeUnbind:
      return ExchangeUnbind.decode(reader);
    case MethodId.exchangeUnbindOk:
      return ExchangeUnbindOk.decode(reader);
    case MethodId.queueDeclare:
      return QueueDeclare.decode(reader);
    case MethodId.queueDeclareOk:
      return QueueDeclareOk.decode(reader);
    case MethodId.queueBind:
      return QueueBind.decode(reader);
    case MethodId.queueBindOk:
      return QueueBindOk.decode(reader);
    case MethodId.queuePurge:
      return QueuePurge.decode(reader);
    case MethodId.queuePurgeOk:
      return QueuePurgeOk.decode(reader);
    case MethodId.queueDelete:
      return QueueDelete.decode(reader);
    case MethodId.queueDeleteOk:
      return QueueDeleteOk.decode(reader);
    case MethodId.queueUnbind:
      return QueueUnbind.decode(reader);
    case MethodId.queueUnbindOk:
      return QueueUnbindOk.decode(reader);
    case MethodId.basicQos:
      return BasicQos.decode(reader);
    case MethodId.basicQosOk:
      return BasicQosOk.decode(reader);
    case MethodId.basicConsume:
      return BasicConsume.decode(reader);
    case MethodId.basicConsumeOk:
      return BasicConsumeOk.decode(reader);
    case MethodId.basicCancel:
      return BasicCancel.decode(reader);
    case MethodId.basicCancelOk:
      return BasicCancelOk.decode(reader);
    case MethodId.basicPublish:
      return BasicPublish.decode(reader);
    case MethodId.basicReturn:
      return BasicReturn.decode(reader);
    case MethodId.basicDeliver:
      return BasicDeliver.decode(reader);
    case MethodId.basicGet:
      return BasicGet.decode(reader);
    case MethodId.basicGetOk:
      return BasicGetOk.decode(reader);
    case MethodId.basicGetEmpty:
      return BasicGetEmpty.decode(reader);
    case MethodId.basicAck:
      return BasicAck.decode(reader);
    case MethodId.basicReject:
      return BasicReject.decode(reader);
    case MethodId.basicRecoverAsync:
      return BasicRecoverAsync.decode(reader);
    case MethodId.basicRecover:
      return BasicRecover.decode(reader);
    case MethodId.basicRecoverOk:
      return BasicRecoverOk.decode(reader);
    case MethodId.basicNack:
      return BasicNack.decode(reader);
    case MethodId.confirmSelect:
      return ConfirmSelect.decode(reader);
    case MethodId.confirmSelectOk:
      return ConfirmSelectOk.decode(reader);
    case MethodId.txSelect:
      return TxSelect.decode(reader);
    case MethodId.txSelectOk:
      return TxSelectOk.decode(reader);
    case MethodId.txCommit:
      return TxCommit.decode(reader);
    case MethodId.txCommitOk:
      return TxCommitOk.decode(reader);
    case MethodId.txRollback:
      return TxRollback.decode(reader);
    case MethodId.txRollbackOk:
      return TxRollbackOk.decode(reader);
    default:
      return undefined;
  }
}
