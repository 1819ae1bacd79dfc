import { WebSocket } from 'ws'
import { type FrameCheck, frameCheck } from './asyncapi.ts'
import { target } from './target.ts'
import { until } from './until.ts'

export interface Message {
  readonly type: string
  readonly [field: string]: unknown
}

export interface BarMessage extends Message {
  readonly type: 'bar'
  readonly symbol: string
  readonly bar: { time: number; open: number; high: number; low: number; close: number; volume: number }
}

/** A socket on /v1/stream that keeps every received frame. */
export class StreamSocket {
  readonly frames: string[] = []
  readonly closed: Promise<{ code: number; reason: string }>
  readonly raw: WebSocket
  /** Why frames do not match /asyncapi.json. */
  readonly faults: string[] = []
  #unread = 0

  /** With `check`, each frame is validated against /asyncapi.json. */
  constructor(raw: WebSocket, check?: FrameCheck) {
    this.raw = raw
    raw.on('message', (data, binary) => {
      const frame = binary ? '<binary>' : String(data)
      this.frames.push(frame)
      const fault = check?.(frame)
      if (fault !== undefined) this.faults.push(fault)
    })
    this.closed = new Promise((resolve) => {
      raw.on('close', (code, reason) => resolve({ code, reason: String(reason) }))
    })
    raw.on('error', () => undefined)
  }

  send(message: unknown): void {
    this.raw.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  get messages(): Message[] {
    return this.frames.map((frame) => JSON.parse(frame) as Message)
  }

  /** The next frame of this type; frames of other types are skipped. */
  async next<M extends Message = Message>(type: string, deadlineMs = 10_000): Promise<M> {
    return until(
      `a "${type}" frame`,
      () => {
        while (this.#unread < this.frames.length) {
          const message = JSON.parse(this.frames[this.#unread++] ?? '') as Message
          if (message.type === type) return message as M
        }
        return undefined
      },
      deadlineMs,
    )
  }

  async subscribe(symbols: readonly string[]): Promise<{ symbols: string[]; rejected: string[] }> {
    this.send({ action: 'subscribe', symbols, type: 'bar' })
    return this.next('subscribed') as unknown as Promise<{ symbols: string[]; rejected: string[] }>
  }

  /** Resolves once everything sent so far is answered: the service answers messages in their order. */
  async settled(): Promise<void> {
    this.send({ action: 'ping' })
    await this.next('pong')
  }

  bars(symbol?: string): BarMessage[] {
    const all = this.messages.filter((message): message is BarMessage => message.type === 'bar')
    return symbol === undefined ? all : all.filter((message) => message.symbol === symbol)
  }

  async close(): Promise<void> {
    this.raw.close(1000)
    await this.closed
  }
}

const opened: StreamSocket[] = []

/** Opens a socket with the key in the query, or by `headers`; rejects when the upgrade is refused. */
export const connect = async (
  key: string | undefined,
  { headers = {}, from }: { headers?: Record<string, string>; from?: string } = {},
): Promise<StreamSocket> => {
  const check = await frameCheck()
  const suffix = key === undefined ? '' : `?api_key=${key}`
  const raw = new WebSocket(`${target().ws}/v1/stream${suffix}`, {
    headers,
    perMessageDeflate: false,
    ...(from === undefined ? {} : { localAddress: from }),
  })
  const socket = new StreamSocket(raw, check)
  opened.push(socket)
  return new Promise((resolve, reject) => {
    raw.once('open', () => resolve(socket))
    raw.once('error', reject)
  })
}

/** For `afterEach`: closes all sockets; throws when one received a frame that /asyncapi.json does not describe. */
export const closeSockets = (): void => {
  const sockets = opened.splice(0)
  for (const { raw } of sockets) raw.terminate()
  const faults = sockets.flatMap((socket) => socket.faults)
  if (faults.length > 0) throw new Error(faults.slice(0, 3).join('\n'))
}
