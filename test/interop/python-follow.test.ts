import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Bar, minutes } from '../acceptance/client/bars.ts'
import { minutesAgo } from '../acceptance/client/clocks.ts'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { FollowedFile } from '../acceptance/client/input.ts'
import { issueKey, revokeKey, rotateKey } from '../acceptance/client/keys.ts'
import { makeHome, type RunningService, startService } from '../acceptance/client/service-process.ts'
import { target, useTarget } from '../acceptance/client/target.ts'
import { until } from '../acceptance/client/until.ts'
import { endForeignProcesses, type ForeignProcess } from './foreign-process.ts'
import { itemsOf, PythonPackage, timesOf } from './python-package.ts'

const symbol = 'BROKERA:ZERO:EURUSD'
let python: PythonPackage
let home = ''
let discard = () => undefined as void
let running: RunningService
let key = ''

const start = async (env: Record<string, string> = {}) => {
  running = await startService(home, { env })
  useTarget(running.target)
}
beforeAll(() => {
  python = new PythonPackage()
}, 300_000)
afterAll(() => python.discard())
beforeEach(async () => {
  ;({ home, discard } = makeHome())
  await start()
  key = (await issueKey()).key
})
afterEach(async () => {
  endForeignProcesses()
  await running.stop('SIGKILL')
  discard()
})

const follow = (options: object): ForeignProcess =>
  python.run('follow.py', [JSON.stringify({ url: target().url, key, symbols: [symbol], ...options })])
const stored = async () => barsOf(await readHistory(key, { symbol, resolution: '1', countback: 10_000 }))
const write = async (bars: readonly Bar[]): Promise<FollowedFile> => {
  const file = new FollowedFile('brokera-zero', 'EURUSD.z_M1.csv')
  file.write(bars)
  await until('the bars', async () => (await stored()).length === bars.length)
  return file
}
const items = (bars: readonly Bar[]) => bars.map((bar) => ({ type: 'bar', symbol, ...bar }))
const allOf = (follower: ForeignProcess, bars: readonly Bar[]) =>
  until(
    `${bars.length} bars, of which ${bars.length} came`,
    () => itemsOf(follower).length >= bars.length,
    50_000,
  )

describe.for(['sync', 'async'])('the %s face', (face) => {
  test('gives three days of history and live bars behind it, each once and in order', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 4_320), 4_300, 1.1, 5)
    const file = await write(bars.slice(0, 4_290))
    const follower = follow({ face, start: bars[0]?.time })
    await allOf(follower, bars.slice(0, 4_290))
    for (const bar of bars.slice(4_290)) file.append(bar)
    await allOf(follower, bars)
    expect(itemsOf(follower)).toEqual(items(bars))
  })

  test('a service that is killed and started again costs no bar', async () => {
    const bars = minutes(minutesAgo('BROKERA:ZERO', 100), 60, 1.1, 5)
    const file = await write(bars.slice(0, 20))
    const follower = follow({ face, start: bars[0]?.time })
    await allOf(follower, bars.slice(0, 20))
    file.append(...bars.slice(20, 30))
    await until('the first pushed bar', () => timesOf(follower).length > 20)
    await running.stop('SIGKILL')
    file.append(...bars.slice(30, 50))
    const { url } = target()
    await start({ FXD_HTTP_ADDR: new URL(url).host })
    file.append(...bars.slice(50))
    await allOf(follower, bars)
    expect(itemsOf(follower)).toEqual(items(bars))
  })
})
void pause
void revokeKey
void rotateKey
