/**
 * A link to the transaction coordinator (§4.1): the client declares transactions and discharges them. They are the link's: what is not
 * discharged when it ends is rolled back.
 *
 *   transfer of declare ──► declared{txn-id}          transfer of discharge ──► accepted, or rejected with the error
 */
import {
  absent,
  type AmqpError,
  AmqpError as Failure,
  Accepted,
  Condition,
  Coordinator,
  type CoordinatorMessage,
  coordinatorMessageIn,
  Declared,
  Discharge,
  Flow,
  Rejected,
  type TransferView,
} from './codec/index.js';
import { describeFault, isFault, LinkError, toAmqpError } from './errors.js';
import { Link, LinkState } from './link.js';
import type { LocalTransaction } from './local-transaction.js';
import { add } from './serial.js';
import { unknownTransaction } from './transaction-table.js';

const capabilities = ['amqp:local-transactions', 'amqp:multi-txns-per-ssn', 'amqp:multi-ssns-per-txn'];
const linkCredit = 100;
/** A declare or discharge has some ten bytes. */
const messageBytesMax = 4_096;
const nothing = new Uint8Array(0);

export class CoordinatorLink extends Link {
  private readonly open = new Set<LocalTransaction>();
  private credit = 0;
  private deliveryCount = 0;
  private deliveryId = 0;
  private inDelivery = false;
  private gathered: Uint8Array = nothing;

  attach(): void {
    this.deliveryCount = this.request.initialDeliveryCount ?? 0;
    try {
      this.host.broker.transactions.check();
    } catch (error) {
      return this.host.linkFailed(this, error);
    }
    const reply = this.reply();
    reply.rcvSettleMode = 0;
    reply.target = Object.assign(new Coordinator(), { capabilities });
    reply.maxMessageSize = messageBytesMax;
    if (this.attachedWith(reply)) this.topUp();
  }

  /** A frame of a declare or discharge. Throws LinkError. */
  transfer(view: TransferView): void {
    if (this.state !== LinkState.attached) return;
    if (!this.inDelivery) this.begin(view);
    // Somebody who settles it cannot be told the id, nor whether it was done (§4.2, §4.3).
    if (view.settled) throw new LinkError(Condition.notAllowed, 'a declare or discharge that is settled');
    const { bytes, payloadStart, payloadEnd } = view;
    const isWhole = this.gathered.length === 0 && !view.more;
    const payload = bytes.subarray(payloadStart, payloadEnd);
    const all = isWhole ? payload : Buffer.concat([this.gathered, payload]);
    if (all.length > messageBytesMax)
      throw new LinkError(Condition.linkMessageSizeExceeded, `a message of more than ${messageBytesMax} bytes`);
    if (view.more && !view.aborted) {
      this.gathered = all;
      return;
    }
    this.finish();
    if (!view.aborted) this.received(this.deliveryId, all);
  }

  flow(deliveryCount: number, echo: boolean): void {
    if (this.state !== LinkState.attached) return;
    if (deliveryCount !== absent && !this.inDelivery) this.deliveryCount = deliveryCount;
    if (echo) this.sendFlow();
  }

  protected release(): void {
    for (const transaction of this.open) {
      this.host.transactions.remove(transaction);
      transaction.rollback();
    }
    this.open.clear();
    this.gathered = nothing;
  }

  private begin(view: TransferView): void {
    if (view.deliveryId === absent)
      throw new LinkError(Condition.invalidField, 'the first transfer of a delivery has no delivery-id');
    if (this.credit === 0) throw new LinkError(Condition.linkTransferLimitExceeded, 'a transfer without credit');
    this.inDelivery = true;
    this.deliveryId = view.deliveryId;
  }

  private finish(): void {
    this.inDelivery = false;
    this.gathered = nothing;
    this.credit--;
    this.deliveryCount = add(this.deliveryCount, 1);
    if (this.credit * 2 <= linkCredit) this.topUp();
  }

  private received(deliveryId: number, bytes: Uint8Array): void {
    try {
      const message = coordinatorMessageIn(bytes);
      if (message instanceof Discharge) this.discharge(deliveryId, message);
      else this.declare(deliveryId, message);
    } catch (error) {
      if (error instanceof LinkError) throw error;
      if (isFault(error)) this.host.logger.error('a transaction failed', { error: describeFault(error) });
      this.refuse(deliveryId, toAmqpError(error));
    }
  }

  private declare(deliveryId: number, { globalId }: Exclude<CoordinatorMessage, Discharge>): void {
    if (globalId !== undefined)
      throw new LinkError(Condition.notImplemented, 'a distributed transaction (global-id): there are local ones only');
    const transaction = this.host.transactions.declare();
    this.open.add(transaction);
    this.host.answer(deliveryId, Object.assign(new Declared(), { txnId: transaction.id }));
  }

  private discharge(deliveryId: number, { txnId, fail }: Discharge): void {
    const transaction = this.host.transactions.get(txnId);
    if (transaction === undefined) throw new Failure(Condition.transactionUnknownId, unknownTransaction(txnId));
    if (!this.open.has(transaction))
      throw new LinkError(Condition.notAllowed, 'a transaction is discharged on another link than it was declared on');
    // §4.4.1
    if (transaction.partial > 0)
      throw new LinkError(
        Condition.transactionRollback,
        'a transaction is discharged, and a delivery of it has come in part only',
      );
    this.host.transactions.remove(transaction);
    if (fail) {
      this.open.delete(transaction);
      transaction.rollback();
      return this.host.answer(deliveryId, new Accepted());
    }
    transaction.commit((error) => {
      this.open.delete(transaction);
      if (this.state !== LinkState.attached) return;
      if (error === undefined) this.host.answer(deliveryId, new Accepted());
      else this.refuse(deliveryId, error);
    });
  }

  /** Who has no use for rejected learns it from a detach (§4.2). */
  private refuse(deliveryId: number, error: AmqpError): void {
    const outcomes = this.request.source?.outcomes ?? [];
    if (outcomes.length > 0 && !outcomes.includes('amqp:rejected:list'))
      return this.fail(new LinkError(error.condition, error.message));
    this.host.counters.transactionsFailed++;
    const { condition, message } = error;
    this.host.logger.info('a transaction failed', { link: this.name, condition, error: message });
    this.host.answer(deliveryId, Object.assign(new Rejected(), { error: error.fields }));
  }

  private topUp(): void {
    this.credit = linkCredit;
    this.sendFlow();
  }

  private sendFlow(): void {
    const flow = new Flow();
    flow.handle = this.ownHandle;
    flow.deliveryCount = this.deliveryCount;
    flow.linkCredit = this.credit;
    this.host.sendFlow(flow);
  }
}
