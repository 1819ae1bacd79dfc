import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { WebSocketServer } from 'ws'
import { authenticate } from '../../access/authenticate.ts'
import { credential } from '../../access/credential.ts'
import { Failure, Unavailable } from '../../core/failure.ts'
import { addressMatcher } from '../../platform/addresses.ts'
import { clientAddress } from '../../platform/http/client-address.ts'
import type { ErrorAnswer } from '../../platform/http/error-answer.ts'
import { digestOf } from '../../registry/key-digest.ts'
import { type Caller, messageBytesMax, StreamSocket } from '../connection/connection.ts'
import type { StreamDeps } from '../deps.ts'
import type { OnFault } from '../faults.ts'
import type { Hub } from '../hub.ts'
import type { StreamMetrics } from '../metrics.ts'
import type { Sessions } from '../sockets/sessions.ts'
import { checkHandshake } from './handshake.ts'
import { RefusedUpgrades } from './refused-upgrades.ts'
import { refuse, UpgradeRefused } from './upgrade-refusal.ts'

/** Maximum time from the request to the 101 or the refusal; then the socket is cut. */
export const handshakeTimeoutMs = 5_000
/** Maximum pending upgrades; further ones are refused. Also the maximum of refused ones whose clients have not ended. */
export const upgradesPendingMax = 1_000
const retryWhenFullSeconds = 5
const retryWhenBusySeconds = 2

/**
 * Maximum reads from the network in which one frame may arrive. A proxy or a slow link may deliver a short message
 * byte by byte. Each read is a buffer of its own, of 0.8 KiB for one byte, so that a socket keeps 0.8 MiB at most.
 */
export const frameReadsMax = 1_024

/**
 * With the library's defaults one client may use 100 MiB of memory, in a quarter of a million chunks.
 * Compression would cost a context per socket. `throttle.ts` sends the pongs.
 */
const serverOptions = {
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: messageBytesMax,
  maxFragments: 16,
  maxBufferedChunks: frameReadsMax,
  autoPong: false,
  /** One packet may contain ten thousand frames: other clients are served between them. */
  allowSynchronousEvents: false,
  /** Maximum time for a client to answer a close frame. */
  closeTimeout: 10_000,
  WebSocket: StreamSocket,
}

interface UpgradeHandlerDeps
  extends Pick<StreamDeps, 'clock' | 'log' | 'registry' | 'limits' | 'trustedProxies' | 'connectionsMax'> {
  readonly sessions: Sessions
  readonly hub: Hub
  readonly metrics: StreamMetrics
  readonly onFault: OnFault
  /** While it returns true, upgrades are refused: clients must use another shard. */
  readonly isDraining: () => boolean
}

/** 503 if slots are unavailable or the process is full, 500 if the registry is unavailable. */
const unavailable = (status: 500 | 503, retryAfterSeconds = retryWhenBusySeconds): ErrorAnswer => ({
  code: 'SERVER_ERROR',
  status,
  headers: { 'Retry-After': retryAfterSeconds },
})

/** The error listener of pending sockets; a reset before the 101 needs no handling. */
const ignore = (): void => undefined

/** Checks upgrade requests; refuses them over plain HTTP, or adds their sockets to the hub. */
export class UpgradeHandler {
  readonly #deps: UpgradeHandlerDeps
  readonly #server = new WebSocketServer(serverOptions)
  readonly #trusted: (address: string) => boolean
  readonly #pending = new Set<Duplex>()
  readonly #refused: RefusedUpgrades
  #closing = false

  constructor(deps: UpgradeHandlerDeps) {
    this.#deps = deps
    this.#trusted = addressMatcher(deps.trustedProxies)
    this.#refused = new RefusedUpgrades(deps.clock, upgradesPendingMax)
    // Otherwise the library answers faults that only it checks, in its own format.
    this.#server.on('wsClientError', (error, socket) =>
      this.#refuse(socket, { code: 'BAD_REQUEST', message: `${error.message}.` }),
    )
  }

  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', ignore)
    try {
      this.#receive(request, socket, head)
    } catch (cause) {
      this.#deps.onFault('upgrade', cause)
      socket.destroy()
    }
  }

  /** Pending upgrades count too: they may become sockets. */
  get isFull(): boolean {
    return this.#deps.hub.sockets.count + this.#pending.size >= this.#deps.connectionsMax
  }

  get #isClosed(): boolean {
    return this.#closing || this.#deps.isDraining()
  }

  /** From now on every upgrade is refused: the process is ending. */
  refuseAll(): void {
    this.#closing = true
  }

  close(): void {
    this.#closing = true
    for (const socket of this.#pending) socket.destroy()
    this.#refused.close()
  }

  #receive(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.#pending.size >= upgradesPendingMax || this.isFull) return this.#refuse(socket, unavailable(503))
    const settle = this.#begin(socket)
    void this.#enter(request, socket, head)
      .catch((cause: unknown) => this.#refuse(socket, this.#refusalFor(cause)))
      .finally(settle)
  }

  /** Returns a function that must be called when the upgrade is decided; the end of the socket calls it too. */
  #begin(socket: Duplex): () => void {
    this.#pending.add(socket)
    const cancel = this.#deps.clock.after(handshakeTimeoutMs, () => socket.destroy())
    const settle = (): void => {
      cancel()
      this.#pending.delete(socket)
      socket.off('close', settle)
    }
    socket.once('close', settle)
    return settle
  }

  /** Adds the socket to the hub, or throws the reason of the refusal. */
  async #enter(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    if (this.#isClosed) throw new UpgradeRefused(unavailable(503))
    const caller = this.#check(request)
    await this.#takeSlot(caller)
    let entered = false
    try {
      if (this.#isClosed) throw new UpgradeRefused(unavailable(503))
      if (!socket.destroyed) {
        this.#server.handleUpgrade(request, socket, head, (webSocket) => {
          try {
            this.#deps.hub.enter(caller, webSocket, socket)
          } catch (cause) {
            // The 101 was sent: no other answer is possible.
            webSocket.terminate()
            throw cause
          }
          entered = true
        })
      }
    } finally {
      if (!entered) void this.#deps.sessions.close(caller.sessionId)
    }
    if (entered) this.#deps.metrics.upgrades.inc({ outcome: 'opened' })
    else if (!socket.writableEnded) this.#deps.metrics.upgrades.inc({ outcome: 'gone' })
  }

  /** All checks that need no slot, in the specified order: key, address, handshake. */
  #check(request: IncomingMessage): Caller {
    const { clock, registry } = this.#deps
    // First of all: without a registry it is unknown whether a key is wrong.
    const view = registry.view()
    const secret = credential(request.headers, request.url ?? '')
    const address = clientAddress({
      peer: request.socket.remoteAddress,
      forwardedFor: request.headers['x-forwarded-for'],
      trusted: this.#trusted,
    })
    const key = authenticate({ credential: secret, address }, view, clock.utcMs())
    const fault = checkHandshake(request)
    if (fault) throw new UpgradeRefused(fault)
    const digest = digestOf(secret ?? '').toString('hex')
    return { key, digest, address, sessionId: clock.randomHex(16) }
  }

  async #takeSlot({ key, sessionId }: Caller): Promise<void> {
    const { sessions, limits, log } = this.#deps
    const cap = key.limits.wsConnections
    const slot = await sessions.open(key.id, sessionId, cap).catch((cause: unknown) => {
      if (!(cause instanceof Unavailable)) throw cause
      throw new UpgradeRefused(unavailable(503, cause.retryAfterSeconds), cause)
    })
    if (slot.outcome === 'open') return
    limits
      .countRefusedUpgrade(key.id)
      .catch((cause: unknown) =>
        log.warn({ err: cause }, 'limits unavailable; a refused upgrade was not counted'),
      )
    throw new UpgradeRefused({
      code: 'TOO_MANY_CONNECTIONS',
      headers: {
        'Retry-After': retryWhenFullSeconds,
        'X-Ws-Connections-Limit': cap,
        'X-Ws-Connections-In-Use': slot.inUse,
      },
    })
  }

  #refusalFor(cause: unknown): ErrorAnswer {
    if (cause instanceof UpgradeRefused) return cause.refusal
    if (cause instanceof Failure) return { code: cause.code, message: cause.message }
    if (cause instanceof Unavailable) return unavailable(500)
    this.#deps.onFault('upgrade', cause)
    return { code: 'SERVER_ERROR' }
  }

  #refuse(socket: Duplex, refusal: ErrorAnswer): void {
    this.#deps.metrics.upgrades.inc({ outcome: refusal.code })
    if (socket.destroyed) return
    try {
      refuse(socket, refusal)
      this.#refused.add(socket)
    } catch (cause) {
      this.#deps.onFault('upgrade', cause)
      socket.destroy()
    }
  }
}
