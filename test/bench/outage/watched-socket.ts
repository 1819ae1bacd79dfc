/** The service closes sockets that are idle for longer. */
const pingMs = 20_000

interface Frame {
  readonly type: string
  readonly symbol?: string
  readonly code?: string
  readonly bar?: { readonly time: number }
}

/** One socket of a user, which notes what it gets: bars by symbol, GAP frames, and its close. */
export class WatchedSocket {
  /** Open times by symbol, in the order of arrival. */
  readonly times = new Map<string, number[]>()
  gaps = 0
  /** Codes and reasons of closes that the service began. */
  readonly closes: string[] = []
  #isClosing = false
  readonly #socket: WebSocket

  private constructor(socket: WebSocket) {
    this.#socket = socket
    const pings = setInterval(() => socket.send(JSON.stringify({ action: 'ping' })), pingMs)
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as Frame))
    socket.addEventListener('close', ({ code, reason }) => {
      clearInterval(pings)
      if (!this.#isClosing) this.closes.push(`${code} ${reason}`)
    })
  }

  /** `since`: by symbol. Resolves once the subscription is answered. */
  static async open(
    url: string,
    symbols: readonly string[],
    since?: Readonly<Record<string, number>>,
  ): Promise<WatchedSocket> {
    const socket = new WebSocket(url)
    const watched = new WatchedSocket(socket)
    await new Promise((resolve, reject) => {
      socket.addEventListener('open', resolve)
      socket.addEventListener('error', () => reject(new Error('the upgrade failed')))
    })
    const subscribed = new Promise<void>((resolve) => {
      socket.addEventListener('message', ({ data }) => {
        if ((JSON.parse(String(data)) as Frame).type === 'subscribed') resolve()
      })
    })
    socket.send(JSON.stringify({ action: 'subscribe', symbols, since }))
    await subscribed
    return watched
  }

  get count(): number {
    return [...this.times.values()].reduce((sum, times) => sum + times.length, 0)
  }

  /** Bars that came twice or out of order. */
  get disordered(): number {
    let count = 0
    for (const times of this.times.values())
      for (const [index, time] of times.entries())
        if (index > 0 && time <= (times[index - 1] as number)) count += 1
    return count
  }

  close(): void {
    this.#isClosing = true
    this.#socket.close()
  }

  #take({ type, symbol = '', code, bar }: Frame): void {
    if (code === 'GAP') this.gaps += 1
    if (type !== 'bar' || !bar) return
    const times = this.times.get(symbol)
    if (times) times.push(bar.time)
    else this.times.set(symbol, [bar.time])
  }
}
