import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { target } from '../acceptance/client/target.ts'
import { ForeignProcess, type Line, python } from './foreign-process.ts'

const protos = fileURLToPath(new URL('../../proto', import.meta.url))
/** Folder for the stubs that each collector generates from the .proto files. Test files of one worker share it. */
const stubs = mkdtempSync(join(tmpdir(), 'fxd-stubs-'))
export const discardStubs = (): void => rmSync(stubs, { recursive: true, force: true })

export const openCollector = (token = readFileSync(target().token, 'utf8').trim()): ForeignProcess => {
  mkdirSync(stubs, { recursive: true })
  return new ForeignProcess(python(), 'collector.py', [protos, stubs, target().grpc, token])
}

/** Closed minutes as delta-coded integer columns with `scale` 5. */
export const columns = (symbol: string, times: readonly number[], price: number) => {
  const differences = (values: readonly number[]) => values.map((value, at) => value - (values[at - 1] ?? 0))
  const prices = times.map((_, at) => price + at * 10)
  return {
    symbol,
    resolution: '1',
    scale: 5,
    time: differences(times),
    open: differences(prices),
    high: differences(prices.map((each) => each + 9)),
    low: differences(prices.map((each) => each - 4)),
    close: differences(prices.map((each) => each + 3)),
    volume: differences(times.map((_, at) => 50 + at)),
    revision: differences(times.map(() => Date.now())),
  }
}

const has = (field: string) => (line: Line) => field in line

/** Opens a session: Hello, Known, Catalogue; bars may be sent after it. */
export const openSession = async (feed: string, name: string) => {
  const terminal = openCollector()
  const hello = { feed, collectorId: `python-${name}`, mode: 'SESSION_MODE_LIVE', terminal: 'python' }
  terminal.send({ hello })
  const { welcome } = (await terminal.next('Welcome', has('welcome'))) as { welcome: Line }
  const known: Line[] = []
  do known.push((await terminal.next('Known', has('known')))['known'] as Line)
  while (known.at(-1)?.['last'] !== true)
  const symbols = [{ raw: name, type: 'forex', digits: 5, description: 'sent by Python' }]
  terminal.send({ catalogue: { revision: 1, snapshot: true, last: true, symbols } })
  const { catalogued } = (await terminal.next('Catalogued', has('catalogued'))) as { catalogued: Line }
  return { terminal, welcome, catalogued }
}
