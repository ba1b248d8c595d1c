/**
 * The HTTP side of a node: a JSON API on node:http, one file per resource in api/. It serves from before the broker is ready,
 * so that one can see it join.
 *
 * Every answer is JSON, and so is what a change is sent with. Errors: `{"error": ..., "reason": ...}` with 400, 401, 404, 405, 409,
 * 413, 415, 503 or 500, as RabbitMQ writes them.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as TcpServer, type Socket } from 'node:net';
import findMyWay, { type HTTPMethod } from 'find-my-way';
import { RefusedError } from '../base/errors.js';
import { InputTurns } from '../base/input-turns.js';
import type { Logger } from '../base/logger.js';
import type { BrokerNode } from '../broker-node.js';
import type { Endpoint } from '../config/endpoint.js';
import { type Authenticator, isRefused } from '../security/authenticator.js';
import type { Person } from '../security/realm.js';
import type { TlsEntrance } from '../security/tls-entrance.js';
import { bindingRoutes } from './api/bindings.js';
import { clusterRoutes, coordinatorRoutes } from './api/cluster.js';
import { definitionRoutes } from './api/definitions.js';
import { parameterRoutes } from './api/parameters.js';
import { exchangeRoutes } from './api/exchanges.js';
import { healthRoutes } from './api/health.js';
import { healthCheckRoutes } from './api/health-checks.js';
import { memberRoutes } from './api/members.js';
import { nodeRoutes } from './api/nodes.js';
import { overviewRoutes } from './api/overview.js';
import { policyRoutes } from './api/policies.js';
import { leadingRoutes } from './api/leading.js';
import { queueRoutes } from './api/queues.js';
import { rerouteRoutes } from './api/reroute.js';
import { userRoutes } from './api/users.js';
import { vhostRoutes } from './api/vhosts.js';
import { permissionRoutes } from './api/permissions.js';
import { limitRoutes } from './api/limits.js';
import { answer, answerAtOnce } from './answer.js';
import { logIn } from './basic-auth.js';
import { readBody } from './json-body.js';
import { PacedSocket } from './paced-socket.js';
import { Pace } from './pace.js';
import { type Handler, HttpError, httpError, type Resource, Streamed } from './resource.js';
import { entersVhost, type Need, requireTag, seesVhost } from './tags.js';

export interface ManagementOptions {
  broker: BrokerNode;
  authenticator: Authenticator;
  logger: Logger;
  /** Files that the process may have open. */
  openFiles: number;
  /** Runs a function in a later turn of the event loop. */
  later: (run: () => void) => void;
}

const resources: readonly Resource[] = [
  ...clusterRoutes,
  ...coordinatorRoutes,
  ...leadingRoutes,
  ...memberRoutes,
  ...nodeRoutes,
  ...overviewRoutes,
  ...healthCheckRoutes,
  ...queueRoutes,
  ...rerouteRoutes,
  ...exchangeRoutes,
  ...bindingRoutes,
  ...policyRoutes,
  ...userRoutes,
  ...vhostRoutes,
  ...permissionRoutes,
  ...limitRoutes,
  ...healthRoutes,
  ...definitionRoutes,
  ...parameterRoutes,
];

const methods = ['GET', 'POST', 'PUT', 'DELETE'] as const satisfies HTTPMethod[];

interface Way {
  readonly handler: Handler;
  readonly need: Need;
  readonly isOpen: boolean;
  readonly readsItself: boolean;
}

/** Requests that are under way; more are refused. */
const requestsMax = 1000;
/** Lists without pages and definitions that are sent at a time: what they tell of is held meanwhile. */
const longAnswersMax = 16;
/** Names have up to 255 bytes, and each may be written as `%xx`; what names a binding has its routing key so in it, and a hash: `%25xx`. */
const parameterLengthMax = 5 * 255 + 32;
/** Sockets at most (with one more the one goes that has been there for longest without a request under way), and the share that they may have of the files that the process may open: others need some too. */
const connectionsMax = 256;
const openFilesShare = 1 / 8;
/** Looked at every second: node:http does so every 30 s unless it is told. Requests with much in them take their time (see readPieces). */
const timeouts = { requestTimeout: 1_800_000, headersTimeout: 10_000, connectionsCheckingInterval: 1000 };
/** What of all sockets is parsed in one turn: hundreds of the smallest requests, which take milliseconds. */
const turnInputBytesMax = 16 * 1024;

export class ManagementServer {
  private readonly options: ManagementOptions;
  private readonly router = findMyWay({
    ignoreTrailingSlash: true,
    caseSensitive: true,
    maxParamLength: parameterLengthMax,
  });
  private readonly server: Server;
  private tlsServer: TcpServer | undefined;
  private readonly turns: InputTurns;
  /** Oldest first, each as node:http has it; null: it is not through with TLS. */
  private readonly sockets: Map<Socket, PacedSocket | null> = new Map();
  private hand: (socket: PacedSocket) => void = () => {};
  private readonly socketsMax: number;
  /** Sockets whose request is under way. */
  private readonly busy: WeakSet<object> = new WeakSet();
  private requests = 0;
  private longAnswers = 0;

  constructor(options: ManagementOptions) {
    this.options = options;
    for (const resource of resources)
      for (const [method, handler] of methodsOf(resource)) {
        const need = resource.needs[method === 'GET' ? 0 : 1];
        const way: Way = {
          handler,
          need,
          isOpen: resource.isOpen === true,
          readsItself: resource.readsItself === true,
        };
        this.router.on(method, resource.path, () => {}, way);
      }
    this.server = createServer(timeouts, (request, response) => {
      void this.serve(request, response);
    });
    this.turns = new InputTurns(turnInputBytesMax, options.later);
    this.socketsMax = Math.min(connectionsMax, Math.ceil(options.openFiles * openFilesShare));
    this.pace();
  }

  /** Puts itself between the sockets and node:http, which takes any stream for one. */
  private pace(): void {
    const { server } = this;
    const takers = server.listeners('connection');
    server.removeAllListeners('connection');
    this.hand = (paced) => {
      for (const take of takers) take.call(server, paced);
    };
    server.on('connection', (socket: Socket) => {
      if (this.admit(socket)) this.serveOver(socket, socket);
    });
  }

  /** False: there are too many. */
  private admit(socket: Socket): boolean {
    const { sockets } = this;
    if (sockets.size >= this.socketsMax && !this.dropOldest()) {
      socket.destroy();
      return false;
    }
    sockets.set(socket, null);
    socket.once('close', () => sockets.delete(socket));
    return true;
  }

  /** @param stream what is said over the socket, in the clear */
  private serveOver(socket: Socket, stream: Socket): void {
    const paced = new PacedSocket(stream, this.turns);
    this.sockets.set(socket, paced);
    this.hand(paced);
  }

  private secure(socket: Socket, tls: TlsEntrance): void {
    if (!this.admit(socket)) return;
    tls.take(socket, {
      protocol: 'HTTP',
      turns: this.turns,
      timeoutMs: timeouts.headersTimeout,
      secured: (client) => this.serveOver(socket, client.socket),
      gone: () => {},
    });
  }

  /** Strangers who only hold sockets must not keep others out. False: each has a request under way. */
  private dropOldest(): boolean {
    const { sockets, busy } = this;
    for (const [socket, paced] of sockets) {
      if (paced !== null && busy.has(paced)) continue;
      sockets.delete(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  /** Resolves to the endpoint with the port bound. Rejects as `net.Server.listen` fails. */
  listen(endpoint: Endpoint): Promise<Endpoint> {
    return this.bind(this.server, endpoint);
  }

  /** The same for HTTP over TLS. */
  async listenTls(endpoint: Endpoint, tls: TlsEntrance): Promise<Endpoint> {
    this.tlsServer = createTcpServer((socket) => this.secure(socket, tls));
    const bound = await this.bind(this.tlsServer, endpoint);
    // From then on node:http watches how long requests take.
    if (!this.server.listening) this.server.emit('listening');
    return bound;
  }

  private bind(server: TcpServer, endpoint: Endpoint): Promise<Endpoint> {
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(endpoint, () => {
        server.off('error', reject);
        server.on('error', (error) => this.options.logger.error('HTTP listener failed', { error: String(error) }));
        resolve({ host: endpoint.host, port: (server.address() as AddressInfo).port });
      });
    });
  }

  async close(): Promise<void> {
    const servers = [this.server, ...(this.tlsServer === undefined ? [] : [this.tlsServer])];
    // One that does not listen says so, and is closed all the same.
    const closed = servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve())));
    for (const socket of this.sockets.keys()) socket.destroy();
    await Promise.all(closed);
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = request;
    // Requests that come without waiting for answers would all be served in one turn, megabytes of them: nobody needs that.
    if (socket.destroyed || this.busy.has(socket)) {
      socket.destroy();
      return;
    }
    this.busy.add(socket);
    this.requests++;
    try {
      const pace = new Pace(this.options.later);
      await this.answer(response, await this.result(request, pace), pace);
    } catch (error) {
      this.refuse(response, error);
    } finally {
      // What was not read of a request that was refused.
      request.resume();
      this.busy.delete(socket);
      this.requests--;
    }
  }

  private async answer(response: ServerResponse, found: unknown, pace: Pace): Promise<void> {
    if (!(found instanceof Streamed)) return await answer(response, found, pace);
    if (this.longAnswers >= longAnswersMax)
      throw new HttpError(503, 'busy', `${longAnswersMax} lists are being sent: ask again, or for a page`);
    this.longAnswers++;
    await answer(response, found, pace).finally(() => this.longAnswers--);
  }

  private async result(request: IncomingMessage, pace: Pace): Promise<unknown> {
    if (this.requests > requestsMax) throw new HttpError(503, 'busy', `${requestsMax} requests are under way`);
    const { broker, authenticator } = this.options;
    const person = await this.person(request);
    const { handler, need, isOpen, readsItself, parameters } = this.find(request);
    requireTag(person, need);
    const { realm } = authenticator;
    const { vhost } = parameters;
    const mayLook = isOpen === true ? seesVhost : entersVhost;
    if (vhost !== undefined && !mayLook(person, vhost, realm))
      throw new HttpError(401, 'not_authorised', 'User not authorised to access virtual host');
    const body = readsItself ? {} : await readBody(request);
    return handler({
      broker,
      parameters,
      body,
      incoming: request,
      query: new URLSearchParams(/\?(.*)$/s.exec(request.url ?? '')?.[1] ?? ''),
      pace,
      asker: `${person.name} at ${request.socket.remoteAddress ?? '?'}`,
      person,
      sees: (name) => seesVhost(person, name, realm),
      enters: (name) => entersVhost(person, name, realm),
      security: authenticator,
    });
  }

  private async person(request: IncomingMessage): Promise<Person> {
    const login = await logIn(request, this.options.authenticator);
    if (login !== undefined && !isRefused(login)) return login;
    if (login !== undefined) {
      const { user, reason } = login;
      this.options.logger.warn('login refused', {
        user,
        reason,
        peer: request.socket.remoteAddress,
        mechanism: 'Basic',
      });
    }
    const told = login === undefined || login.told === '' ? 'Login failed' : login.told;
    throw new HttpError(401, 'not_authorised', told, { 'www-authenticate': 'Basic realm="Understudy"' });
  }

  private find(request: IncomingMessage): Way & { parameters: Record<string, string> } {
    const method = (request.method === 'HEAD' ? 'GET' : request.method) as HTTPMethod;
    const path = (request.url ?? '/').split('?', 1)[0]!;
    const found = this.router.find(method, path);
    if (found !== null) return { ...(found.store as Way), parameters: found.params as Record<string, string> };
    const allowed = methods.filter((other) => this.router.find(other, path) !== null);
    if (allowed.length === 0) throw new HttpError(404, 'not_found', `there is no ${path}`);
    const allow = allowed.map((other) => (other === 'GET' ? 'GET, HEAD' : other)).join(', ');
    throw new HttpError(405, 'method_not_allowed', `${path} takes ${allow}`, { allow });
  }

  private refuse(response: ServerResponse, error: unknown): void {
    if (error instanceof HttpError || error instanceof RefusedError) {
      const { status, body, headers } = error instanceof HttpError ? error : httpError(error);
      answerAtOnce(response, status, body, headers);
    } else {
      this.options.logger.error('HTTP request failed', { error: String(error) });
      answerAtOnce(response, 500, { error: 'internal_error', reason: String(error) });
    }
  }
}

function methodsOf({ get, post, put, delete: remove }: Resource): [HTTPMethod, Handler][] {
  const all = [get, post, put, remove];
  return methods.flatMap((method, i) => (all[i] === undefined ? [] : [[method, all[i]]]));
}
