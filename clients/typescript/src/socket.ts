import type { Frame } from './frames.ts'

const pingMs = 10_000
/** A pong answers each ping, so that a connection which is silent for longer has ended. */
const silentTicksMax = 30
/** After this silence the connection is in doubt. */
const doubtfulTicks = 15

export interface SocketEnd {
  readonly wasOpen: boolean
  /** Close code; what a platform gives for a refused upgrade or a broken connection differs. */
  readonly code: number
  readonly reason: string
}

interface SocketListener {
  received(frame: Frame): void
  ended(end: SocketEnd): void
}

/** One WebSocket with its pings. Its owner calls `tick` each second. After `ended` it calls nobody. */
export class Socket {
  readonly #socket: WebSocket
  #listener: SocketListener | undefined
  #pingedMs = performance.now()
  /** Ticks since the last frame. While the program sleeps or computes no tick passes, so silence then counts for nothing. */
  #silentTicks = 0
  #wasOpen = false

  constructor(url: string, listener: SocketListener) {
    this.#listener = listener
    this.#socket = new WebSocket(url)
    this.#socket.onopen = () => {
      this.#wasOpen = true
    }
    this.#socket.onmessage = ({ data }) => this.#receive(String(data))
    this.#socket.onclose = ({ code, reason }) => this.#end(code, reason)
    // After a refused upgrade Node 22 sends no `close`. A call of close() then causes a second `error`.
    this.#socket.onerror = () => {
      if (this.#listener && !this.#wasOpen) this.#end(0, 'the connection did not open')
    }
  }

  get isSound(): boolean {
    return this.#wasOpen && this.#listener !== undefined && this.#silentTicks < doubtfulTicks
  }

  send(message: object): void {
    if (this.#socket.readyState === 1) this.#socket.send(JSON.stringify(message))
  }

  tick(): void {
    this.#silentTicks += 1
    if (this.#silentTicks > silentTicksMax) this.#end(0, 'silent')
    else this.#ping()
  }

  close(): void {
    this.#end(1000, '')
  }

  /** Also called for each frame: timers of a page in the background run once a minute. */
  #ping(): void {
    const now = performance.now()
    if (now - this.#pingedMs < pingMs) return
    this.#pingedMs = now
    this.send({ action: 'ping' })
  }

  #receive(text: string): void {
    if (!this.#listener) return
    this.#silentTicks = 0
    this.#ping()
    let frame: Frame
    try {
      frame = JSON.parse(text) as Frame
    } catch {
      return this.#end(0, 'a frame is not JSON')
    }
    this.#listener.received(frame)
  }

  /** A closing handshake may never be answered, so nothing waits for it. */
  #end(code: number, reason: string): void {
    const listener = this.#listener
    this.#listener = undefined
    this.#socket.close(1000)
    listener?.ended({ wasOpen: this.#wasOpen, code, reason })
  }
}
