import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import { Fxd } from '../../clients/typescript/src/index.ts'
import { minutesAgo } from '../acceptance/client/clocks.ts'
import { until } from '../acceptance/client/until.ts'
import { endForeignProcesses } from '../interop/foreign-process.ts'
import { columns, discardStubs, openSession } from '../interop/python-collector.ts'
import { useService } from './one-service.ts'
import { endStreams, Taken } from './taken.ts'

const service = useService()
afterEach(async () => {
  await endStreams()
  endForeignProcesses()
})
afterAll(discardStubs)

const symbol = 'BROKERE:LIVE:EURUSD'
/** The symbol leaves the feed and returns: the service names what it did not push meanwhile in a GAP. */
const leaveAndReturn = async (fxd: Fxd): Promise<void> => {
  const manifest = join(service.home, 'feeds/brokere-live.yaml')
  const text = readFileSync(manifest, 'utf8')
  const apply = async (list: string, isThere: boolean): Promise<void> => {
    writeFileSync(manifest, list)
    service.process.kill('SIGHUP')
    await until('the list', async () => {
      const found = await Array.fromAsync(fxd.symbols())
      return found.some((each) => each.symbol === symbol) === isThere
    })
  }
  await apply(text.replace('raw: EURUSD', 'raw: EURNOK'), false)
  await apply(text, true)
}
const connected = async () => {
  const collector = (await openSession('BROKERE:LIVE', 'EURUSD')).terminal
  let sequence = 0
  return async (lane: string, times: readonly number[]) => {
    collector.send({
      bars: { sequence: ++sequence, lane, series: [columns('EURUSD', times, 110_000)] },
    })
    await collector.next('the Ack', (line) => 'ack' in line)
  }
}

test('bars that a collector brings after a kill of the service and after a live bar are given before it', async () => {
  const times = [12, 11, 10, 9, 8].map((back) => minutesAgo('BROKERB:LIVE', back))
  const first = await connected()
  await first('LANE_LIVE', times.slice(0, 1))
  const fxd = new Fxd({ url: service.url, key: service.key })
  const taken = new Taken(fxd.bars(symbol, { from: times[0]! }))
  await taken.untilBars(symbol, 1)
  await service.kill()
  await service.start()
  await until('the return of the client', async () => (await fxd.usage()).current.ws_connections_in_use > 0)
  const second = await connected()
  await second('LANE_LIVE', times.slice(3, 4))
  await second('LANE_BACKFILL', times.slice(1, 3))
  await second('LANE_LIVE', times.slice(4))
  await until('the newest bar', () => taken.bars(symbol).at(-1)?.time === times[4])
  expect(taken.items).toHaveLength(5)
  expect(taken.bars(symbol).map(({ time }) => time)).toEqual(times)
})

test('bars that a GAP names are given before later ones', async () => {
  const times = [6, 5, 4, 3, 2].map((back) => minutesAgo('BROKERB:LIVE', back))
  const send = await connected()
  await send('LANE_LIVE', times.slice(0, 1))
  const fxd = new Fxd({ url: service.url, key: service.key })
  const now = performance.now.bind(performance)
  // A client that connected two minutes ago looks for missing minutes only after a GAP.
  const past = vi.spyOn(performance, 'now').mockImplementation(() => now() - 121_000)
  const taken = new Taken(fxd.bars(symbol, { from: times[0]! }))
  await taken.untilBars(symbol, 1)
  past.mockRestore()
  await send('LANE_LIVE', times.slice(1, 2))
  await taken.untilBars(symbol, 2)
  await leaveAndReturn(fxd)
  await send('LANE_BACKFILL', times.slice(2, 4))
  await send('LANE_LIVE', times.slice(4))
  await taken.untilBars(symbol, times.length)
  expect(taken.bars(symbol).map(({ time }) => time)).toEqual(times)
  expect(taken.items).toHaveLength(times.length)
})
