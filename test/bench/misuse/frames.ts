/** Attacks by messages on WebSockets of one key. */
import { WebSocket } from 'ws'
import { clientFrame } from '../../support/clients/raw-client.ts'
import { type Attack, repeat, type Scene, shareOf, type Tally } from './attack.ts'
import { attackersFeed, attackersSymbols } from './collectors.ts'
import { dial } from './connections.ts'

/** Maximum sockets of one pro key. */
const socketsOfPro = 30
/** Maximum unanswered frames of one socket. */
const unanswered = 2
const reopenMs = 1_000
const messageBytesMax = 65_536

/** A socket that sends these texts cyclically, two at a time. It reconnects after a close. */
function talk(
  scene: Scene,
  texts: readonly string[],
  tally: Tally,
): { begin(): void; opened: Promise<void> } {
  const opened = Promise.withResolvers<void>()
  let hasBegun = false
  let sent = 0
  let socket: WebSocket
  const send = (): void => {
    if (socket.readyState !== WebSocket.OPEN) return
    socket.send(texts[sent++ % texts.length] ?? '')
    tally.add('frames')
  }
  const open = (): void => {
    socket = new WebSocket(`${scene.target.ws}/v1/stream?api_key=${scene.key}`, { perMessageDeflate: false })
    socket.on('message', (data: Buffer) => {
      if (data.includes('"type":"connected"')) {
        opened.resolve()
        if (hasBegun) repeat(unanswered, send)
      } else if (hasBegun && isAnswer(data)) {
        tally.add('answers')
        // In a separate turn of the event loop, so that a fast server does not block this process.
        setImmediate(send)
      }
    })
    socket.on('error', (error: NodeJS.ErrnoException) => tally.add(error.code ?? 'error'))
    socket.on('close', (code) => {
      opened.resolve()
      tally.add(`closed ${code}`)
      setTimeout(open, reopenMs)
    })
  }
  open()
  return {
    opened: opened.promise,
    begin() {
      hasBegun = true
      repeat(unanswered, send)
    },
  }
}

/** Whether a frame is an answer: bars and gaps are not. */
const isAnswer = (data: Buffer): boolean =>
  data.includes('"type":"subscribed"') ||
  data.includes('"type":"unsubscribed"') ||
  (data.includes('"type":"error"') && !data.includes('"GAP"'))

const talking =
  (textsFor: (scene: Scene) => readonly string[], sockets = socketsOfPro): Attack =>
  async (scene, tally) => {
    const texts = textsFor(scene)
    const all = Array.from({ length: shareOf(scene, sockets) }, () => talk(scene, texts, tally))
    await Promise.all(all.map(({ opened }) => opened))
    return () => {
      for (const each of all) each.begin()
    }
  }

/** Nested lists and objects in each field, at a depth that may break a serialiser and at the maximum depth. */
function nestedTexts(): string[] {
  const list = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth)
  const object = (depth: number): string => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  const values = [list(5_000), object(5_000), list(32_000), object(10_000)]
  return values.flatMap((value) => [
    value,
    `{"action":${value}}`,
    `{"action":"subscribe","type":${value},"symbols":[]}`,
    `{"action":"subscribe","symbols":${value}}`,
    `{"action":"subscribe","symbols":[${value}]}`,
    `{"action":"unsubscribe","symbols":[${value}]}`,
    `{"action":"subscribe","symbols":[],"markers":${value}}`,
    `{"action":"subscribe","symbols":[],"since":${value}}`,
    `{"action":"subscribe","symbols":["A:B:C"],"since":{"A:B:C":${value}}}`,
  ])
}
export const nested = talking(() => nestedTexts(), 5)

/** Unknown symbol names of this length. */
const unknown = (count: number, characters: number): string[] =>
  Array.from({ length: count }, (_, i) => i.toString(36).toUpperCase().padStart(characters, 'X'))

const subscribe = (symbols: readonly string[], since?: Readonly<Record<string, number>>): string => {
  const text = JSON.stringify({ action: 'subscribe', symbols, since })
  if (text.length > messageBytesMax) throw new Error(`the frame has ${text.length} bytes`)
  return text
}
const sinceAll = (symbols: readonly string[], time: number): Record<string, number> =>
  Object.fromEntries(symbols.map((symbol) => [symbol, time]))
const anHourAgo = (): number => Math.floor(Date.now() / 1_000) - 3_600
const aDayAgo = (): number => Math.floor(Date.now() / 1_000) - 86_400

/** 63 KB with 9,000 names. */
export const lists = talking(() => [subscribe(unknown(9_000, 4))])
/** 63 KB with 3,400 names and a time for each. */
export const listsSince = talking(() => {
  const names = unknown(3_400, 3)
  return [subscribe(names, sinceAll(names, 1))]
})
/** Lists of the maximum length, with and without times. */
export const listsAtBound = talking(() => {
  const names = unknown(4_999, 3)
  const some = names.slice(0, 2_800)
  return [
    subscribe(names),
    subscribe(some, sinceAll(some, 1)),
    JSON.stringify({ action: 'unsubscribe', symbols: names }),
  ]
})
/** Subscribes and unsubscribes all symbols repeatedly. */
export const allSymbols = talking(({ symbols }) => [
  subscribe(symbols),
  JSON.stringify({ action: 'unsubscribe', symbols }),
])
/** The same with an hour of `since` each time. */
export const replays = talking(({ symbols }) => [
  subscribe(symbols, sinceAll(symbols, anHourAgo())),
  JSON.stringify({ action: 'unsubscribe', symbols }),
])

/** 500 symbols with a day of minutes each time: 720,000 bars for each socket. */
export const replaysOfDay = talking(() => {
  const symbols = attackersSymbols.map((name) => `${attackersFeed.key}:${name}`)
  return [
    subscribe(symbols, sinceAll(symbols, aDayAgo())),
    JSON.stringify({ action: 'unsubscribe', symbols }),
  ]
})

const floodBytes = 65_536
const floodEveryMs = 50

/** Pings of both kinds, 64 KiB at once on each socket; more when those were accepted. */
export const pings: Attack = async (scene, tally) => {
  const protocol = clientFrame('', { opcode: 9 })
  const text = clientFrame('{"action":"ping"}')
  const fill = (frame: Buffer): Buffer =>
    Buffer.concat(Array.from({ length: Math.floor(floodBytes / frame.length) }, () => frame))
  const floods = [fill(protocol), fill(text)]
  const sockets = Array.from({ length: shareOf(scene, socketsOfPro) }, () => {
    const socket = dial(scene.target.url, tally)
    socket.write(
      `GET /v1/stream?api_key=${scene.key} HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\n` +
        'Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    )
    socket.on('data', () => undefined)
    socket.on('close', () => tally.add('closed'))
    return socket
  })
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('data', resolve))))
  return () => {
    setInterval(() => {
      for (const [i, socket] of sockets.entries()) {
        if (!socket.writable || socket.writableLength > 0) continue
        socket.write(floods[i % floods.length] ?? '')
        tally.add('KiB', floodBytes / 1_024)
      }
    }, floodEveryMs)
  }
}
