import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { Fxd } from '../../clients/typescript/src/index.ts'
import { minutes } from '../acceptance/client/bars.ts'
import { minutesAgo } from '../acceptance/client/clocks.ts'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { FollowedFile } from '../acceptance/client/input.ts'
import { issueKey, revokeKey, rotateKey } from '../acceptance/client/keys.ts'
import { makeHome, type RunningService, startService } from '../acceptance/client/service-process.ts'
import { useTarget } from '../acceptance/client/target.ts'
import { until } from '../acceptance/client/until.ts'
import { endStreams, Taken } from './taken.ts'

const { home, discard } = makeHome()
let service: RunningService
let key = ''
beforeAll(async () => {
  service = await startService(home)
  useTarget(service.target)
  key = (await issueKey()).key
})
afterEach(endStreams)
afterAll(async () => {
  await service.stop('SIGKILL')
  discard()
})

const client = (more: object = {}) => new Fxd({ url: service.target.url, key, ...more })
const symbolOf = (name: string) => `BROKERA:ZERO:${name}`

/** A symbol with `old` minutes from 2020 and an hour that ended half an hour ago. Each test has a symbol of its own. */
const prepare = async (name: string, old = 0) => {
  const digits = name.endsWith('JPY') ? 3 : 5
  const first = minutes(Date.UTC(2020, 0, 6) / 1000, old, 1.1, digits)
  const recent = minutes(minutesAgo('BROKERA:ZERO', 90), 80, 1.2, digits)
  const stored = [...first, ...recent.slice(0, 60)]
  const file = new FollowedFile('brokera-zero', `${name}.z_M1.csv`)
  file.write(stored)
  const wanted = { symbol: symbolOf(name), resolution: '1', countback: 1 }
  await until(`the bars of ${name}`, async () => {
    const [newest] = barsOf(await readHistory(key, wanted))
    return newest?.time === stored.at(-1)?.time
  })
  return { symbol: symbolOf(name), file, stored, next: recent.slice(60) }
}

test('bars from years ago run into the present, each once and in order', async () => {
  const { symbol, file, stored, next } = await prepare('EURUSD', 25_000)
  const taken = new Taken(client().bars(symbol, { from: 0 }))
  await taken.untilBars(symbol, stored.length)
  file.append(...next)
  expect(await taken.untilBars(symbol, stored.length + next.length)).toEqual([...stored, ...next])
  expect(taken.stream.position).toEqual({ [symbol]: next.at(-1)?.time })
})
