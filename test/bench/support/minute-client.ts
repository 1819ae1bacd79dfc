/** One socket of the bench `backfill`, in a separate process. It reports when it has the last bar of a minute. */
import WebSocket from 'ws'

export interface MinuteOrder {
  readonly url: string
  readonly symbols: readonly string[]
}

/** All bars of this open time arrived; `at` in milliseconds of the monotonic clock. */
export interface MinuteReport {
  readonly time: number
  readonly at: number
}

const pingMs = 20_000

interface Frame {
  readonly type: string
  readonly bar?: { readonly time: number }
}

process.once('message', ({ url, symbols }: MinuteOrder) => {
  const socket = new WebSocket(url)
  const counts = new Map<number, number>()
  socket.on('open', () => socket.send(JSON.stringify({ action: 'subscribe', symbols })))
  setInterval(() => socket.send('{"action":"ping"}'), pingMs).unref()
  socket.on('message', (data: Buffer) => {
    const at = Number(process.hrtime.bigint()) / 1e6
    const { type, bar } = JSON.parse(data.toString()) as Frame
    if (type === 'subscribed') process.send?.('ready')
    if (!bar) return
    const count = (counts.get(bar.time) ?? 0) + 1
    counts.set(bar.time, count)
    if (count === symbols.length) process.send?.({ time: bar.time, at } satisfies MinuteReport)
  })
})
