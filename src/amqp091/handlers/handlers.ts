/** Which handler takes a method. basic.publish, its content and basic.ack never come here: see Channel. */
import type { Channel } from '../channel.js';
import { type Method, MethodId, methodName, ProtocolError, ReplyCode } from '../codec/index.js';
import * as basic from './basic.js';
import * as channels from './channel.js';
import * as confirm from './confirm.js';
import * as exchange from './exchange.js';
import * as queue from './queue.js';
import * as tx from './tx.js';

export function handleMethod(channel: Channel, method: Method): void {
  switch (method.id) {
    case MethodId.channelOpen:
      return channels.openAgain();
    case MethodId.channelClose:
      return channel.closeByClient();
    case MethodId.channelCloseOk:
    case MethodId.channelFlowOk:
    case MethodId.basicCancelOk:
      return;
    case MethodId.channelFlow:
      return channels.flow(channel, method);
    case MethodId.accessRequest:
      return channels.access(channel);
    case MethodId.exchangeDeclare:
      return exchange.declare(channel, method);
    case MethodId.exchangeDelete:
      return exchange.remove(channel, method);
    case MethodId.exchangeBind:
      return exchange.bind(channel, method);
    case MethodId.exchangeUnbind:
      return exchange.unbind(channel, method);
    case MethodId.queueDeclare:
      return queue.declare(channel, method);
    case MethodId.queueBind:
      return queue.bind(channel, method);
    case MethodId.queueUnbind:
      return queue.unbind(channel, method);
    case MethodId.queuePurge:
      return queue.purge(channel, method);
    case MethodId.queueDelete:
      return queue.remove(channel, method);
    case MethodId.basicQos:
      return basic.qos(channel, method);
    case MethodId.basicConsume:
      return basic.consume(channel, method);
    case MethodId.basicCancel:
      return basic.cancel(channel, method);
    case MethodId.basicGet:
      return basic.get(channel, method);
    case MethodId.basicReject:
      return basic.reject(channel, method);
    case MethodId.basicNack:
      return basic.nack(channel, method);
    case MethodId.basicRecover:
      return basic.recover(channel, method);
    case MethodId.basicRecoverAsync:
      return basic.recoverAsync(channel, method);
    case MethodId.confirmSelect:
      return confirm.select(channel, method);
    case MethodId.txSelect:
      return tx.select(channel);
    case MethodId.txCommit:
      return tx.commit(channel);
    case MethodId.txRollback:
      return tx.rollback(channel);
    default:
      throw new ProtocolError(ReplyCode.commandInvalid, `${methodName(method.id)} is not for a client to send here`);
  }
}
