import { silentLog } from '../../../services/platform/log/log.ts'
import { systemClock } from '../../../services/platform/system-clock.ts'
import { openEmbeddedStores } from '../../../services/stores/embedded/open.ts'
import { batchOf, minuteBars, seriesOf } from '../suites/sample-bars.ts'

/** A process that writes until it is killed, and prints acknowledged writes to standard output. */
const [folder = ''] = process.argv.slice(2)
const print = (line: string): void => void process.stdout.write(`${line}\n`)
const stores = await openEmbeddedStores({ folder, clock: systemClock, log: silentLog })
print('open')

const bars = async (name: string, barsPerWrite: number): Promise<never> => {
  for (let minute = 0; ; minute += barsPerWrite) {
    const list = minuteBars(minute, minute + barsPerWrite)
    const askedMs = systemClock.utcMs()
    await stores.bars.write([batchOf(seriesOf(name), list)], name === 'LIVE' ? 'live' : 'backfill')
    print(`${name} ${minute + barsPerWrite} ${askedMs}`)
  }
}
const requests = async (): Promise<never> => {
  for (let made = 1; ; made++) {
    await stores.limits.admit('key', { rpm: 2 ** 30, rpd: 2 ** 30 }, 'history')
    print(`requests ${made} ${systemClock.utcMs()}`)
    await systemClock.sleep(5)
  }
}
await Promise.all([bars('BACKFILL', 5_000), bars('LIVE', 3), requests()])
