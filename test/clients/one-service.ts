import { afterAll, beforeAll } from 'vitest'
import { minutes } from '../acceptance/client/bars.ts'
import { minutesAgo } from '../acceptance/client/clocks.ts'
import { freePorts } from '../acceptance/client/free-ports.ts'
import { barsOf, readHistory } from '../acceptance/client/history.ts'
import { FollowedFile } from '../acceptance/client/input.ts'
import { issueKey } from '../acceptance/client/keys.ts'
import { makeHome, type RunningService, startService } from '../acceptance/client/service-process.ts'
import { useTarget } from '../acceptance/client/target.ts'
import { until } from '../acceptance/client/until.ts'

export const symbolOf = (name: string): string => `BROKERA:ZERO:${name}`

/** One `fxd all` for the tests of a file, which may kill and start it again. */
export function useService() {
  const { home, discard } = makeHome()
  let service: RunningService
  let key = ''
  let ports: readonly number[] = []
  /** A new process listens where the one before did. */
  const start = async (): Promise<void> => {
    service = await startService(home, { ports })
    useTarget(service.target)
  }
  beforeAll(async () => {
    ports = await freePorts(3)
    await start()
    key = (await issueKey()).key
  })
  afterAll(async () => {
    await service.stop('SIGKILL')
    discard()
  })

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

  return {
    home,
    prepare,
    start,
    get process() {
      return service.process
    },
    get url() {
      return service.target.url
    },
    get key() {
      return key
    },
    kill: () => service.stop('SIGKILL'),
  }
}
