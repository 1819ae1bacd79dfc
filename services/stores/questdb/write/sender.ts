import { createTransport, SenderOptions, type SenderTransport } from '@questdb/nodejs-client'
import { Agent, buildConnector } from 'undici'
import { markStage } from '../../../platform/stages.ts'
import { within } from '../../../platform/within.ts'
import type { QuestdbOptions } from '../options.ts'
import type { ConnectionCheck } from '../pg/connection-check.ts'

/** The server's status 400: it takes none of the rows, because of one of them or of its table. */
export class RejectedRequest extends Error {}

/** How long the client retries by itself. A shorter time would give up on a slow server that already has the rows. */
const clientRetryMs = 8_000
/** Deadline around the client's own retries: on a refused connection the client never ends by itself. */
const sendDeadlineMs = 9_000

export async function senderOptions({ http, credentials, log }: QuestdbOptions): Promise<SenderOptions> {
  const timeouts = `request_timeout=${clientRetryMs};retry_timeout=${clientRetryMs};`
  // The version is given, because "auto" asks the server and fails at once while the server is unavailable.
  const text = `http::addr=questdb:${http.port};auto_flush=off;protocol_version=2;${timeouts}`
  const options = await SenderOptions.fromConfig(text, {
    log: (level, message) =>
      log[level === 'error' ? 'warn' : 'debug']({ questdb: String(message) }, 'QuestDB client'),
  })
  // Set here because a configuration text would need escaping and supports no IPv6.
  options.host = http.host.includes(':') ? `[${http.host}]` : http.host
  options.username = credentials.user
  options.password = credentials.password
  return options
}

/** The client's own options, except for the single connection. It is closed after this time without rows. */
const connection = { connections: 1, pipelining: 1, keepAliveTimeout: 60_000 }

interface Connection {
  /** The client's shared agent would use whichever connection is free. */
  readonly agent: Agent
  readonly transport: SenderTransport
}

export interface SenderDeps {
  readonly options: QuestdbOptions
  readonly sender: SenderOptions
  readonly check: ConnectionCheck
}

/**
 * Sends encoded rows over one connection. After a failure it opens a new one, because a request of the client may
 * never end. Every connection, also one that the client opens by itself, is opened only after the server passed the
 * connection check.
 */
export class RowSender {
  readonly #deps: SenderDeps
  #connection: Connection | undefined
  #failures = 0
  #isStale = false
  #closed = false

  constructor(deps: SenderDeps) {
    this.#deps = deps
  }

  /** Requests with an unknown outcome so far; each may still arrive at the server later. */
  get failures(): number {
    return this.#failures
  }

  /**
   * Resolves once the server has committed all rows. Rejects with `RejectedRequest` when it takes none of them; after any
   * other error the outcome is unknown.
   */
  async send(bytes: Buffer): Promise<void> {
    const { options, sender, check } = this.#deps
    if (this.#isStale) this.#leave()
    if (this.#connection === undefined) {
      await within(options.clock, sendDeadlineMs, 'checking QuestDB', check.pass())
      if (this.#closed) throw new Error('the store is closed')
      this.#connection = connect(sender, check)
    }
    try {
      markStage('storing')
      const sent = this.#connection.transport.send(bytes)
      await within(options.clock, sendDeadlineMs, 'sending rows to QuestDB', sent)
      markStage('committed')
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      // Any other refusal comes from a proxy or concerns our credentials.
      if (/\bstatusCode=400\b/.test(message)) throw new RejectedRequest(message, { cause })
      this.#failures += 1
      this.#leave()
      if (!this.#closed) check.lost()
      throw cause
    }
  }

  /** Sends the next rows over a new connection. */
  renew(): void {
    this.#isStale = true
  }

  /** Fails requests under way. */
  close(): void {
    this.#closed = true
    this.#leave()
  }

  #leave(): void {
    this.#isStale = false
    const left = this.#connection
    this.#connection = undefined
    // Closing the client's transport would leave the connection open.
    void left?.agent.destroy().catch(() => undefined)
  }
}

function connect(options: SenderOptions, check: ConnectionCheck): Connection {
  const open = buildConnector({})
  const agent = new Agent({
    ...connection,
    connect(target, opened) {
      check.pass().then(
        () => open(target, opened),
        (cause: Error) => opened(cause, null),
      )
    },
  })
  const own = Object.assign(Object.create(options) as SenderOptions, { agent })
  return { agent, transport: createTransport(own) }
}
