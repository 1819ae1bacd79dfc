/** Attacks by requests of one key within its rate. */
import http from 'node:http'
import { type Attack, repeat, type Scene, shareOf } from './attack.ts'
import { dial } from './connections.ts'

/** A symbol that trades at all times: its M1 is the longest series of the demo feeds. */
const symbol = 'BROKERA:ZERO:BTCUSD'
const minuteSeconds = 60
const [depthMinutes, aheadSeconds] = [120_000, 86_400]
const nowSeconds = (): number => Math.floor(Date.now() / 1_000)

const history = (query: Readonly<Record<string, string>>): string =>
  `/v1/history?${new URLSearchParams(query).toString()}`

const minutesFrom = (from: number): string =>
  history({ symbol, resolution: '1', from: String(from), to: String(nowSeconds() + aheadSeconds) })
const allMinutes = (): string => minutesFrom(nowSeconds() - depthMinutes * minuteSeconds)

/** Concurrent requests, each on a separate connection. Answers are read. */
const ask =
  (count: number, path: () => string): Attack =>
  async (scene, tally) => {
    const agent = new http.Agent({ maxSockets: Number.POSITIVE_INFINITY })
    const headers = { 'X-API-Key': scene.key }
    const one = (): void => {
      tally.add('requests')
      http
        .get(scene.target.url + path(), { agent, headers }, (response) => {
          response.resume()
          response.on('end', () => tally.add(`status ${response.statusCode}`))
          response.on('error', () => tally.add('answers cut'))
        })
        .on('error', (error: NodeJS.ErrnoException) => tally.add(error.code ?? 'error'))
    }
    return () => repeat(shareOf(scene, count), one)
  }

export const allOfM1 = ask(300, allMinutes)
export const foldedM30 = ask(590, () => history({ symbol, resolution: '30', countback: '10000' }))
export const coverage = ask(590, () => `/v1/coverage?symbol=${symbol}`)
/** Coverage of all symbols, which is the longest answer of all. */
export const wholeCoverage = ask(590, () => '/v1/coverage')
export const symbolList = ask(590, () => '/v1/symbols?limit=1000')

/** The dearest requests of six keys at once, each key within its own rate. */
export const dearest: Attack = async (scene, tally) => {
  const keys = [scene.key, ...scene.moreKeys]
  const kinds = [allOfM1, foldedM30, wholeCoverage]
  const begins = await Promise.all(
    keys.map((key, i) => (kinds[i % kinds.length] as Attack)({ ...scene, key }, tally)),
  )
  return () => {
    for (const begin of begins) begin()
  }
}

/** Enough for the status of an answer. */
const statusLineBytes = 16
const wantedBytes = 0.99 * 2 ** 20

/** A range of M1 whose answer is a little shorter than 1 MiB. */
async function longPath({ target, key }: Scene): Promise<string> {
  const read = async (path: string): Promise<string> => {
    const response = await fetch(target.url + path, { headers: { 'X-API-Key': key } })
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`)
    return response.text()
  }
  const sample = 10_000
  const text = await read(history({ symbol, resolution: '1', countback: String(sample) }))
  const { t } = JSON.parse(text) as { t: number[] }
  const bars = Math.floor((sample * wantedBytes) / text.length)
  return minutesFrom((t.at(-1) ?? nowSeconds()) - bars * minuteSeconds)
}

const unreadBeatMs = 100
/** Requests per beat. All at once would mostly fail with a read timeout, and short failures use no memory. */
const unreadPerBeat = 10

/** 590 answers of about 0.99 MiB, each on a connection of which only the beginning is read. */
export const unread: Attack = async (scene, tally) => {
  const request = `GET ${await longPath(scene)} HTTP/1.1\r\nHost: bench\r\nX-API-Key: ${scene.key}\r\n\r\n`
  let left = shareOf(scene, 590)
  const perBeat = shareOf(scene, unreadPerBeat)
  const one = (): void => {
    if (left-- <= 0) return
    const socket = dial(scene.target.url, tally)
    // Node fills only its buffer while nothing reads from it.
    socket.once('readable', () => {
      const status = / (\d{3}) /.exec(String(socket.read(statusLineBytes)))?.[1]
      if (status !== undefined) tally.add(`status ${status}`)
    })
    socket.write(request)
  }
  return () => {
    setInterval(() => repeat(perBeat, one), unreadBeatMs)
  }
}
