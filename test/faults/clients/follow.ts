/** Follows bars with the client of clients/typescript, for tests. Options, lines and answers are those of follow.py. */
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Fxd, FxdError } from '../../../clients/typescript/src/index.ts'

interface Options {
  readonly url: string
  readonly key_file: string
  readonly symbols: readonly string[]
  readonly start: number
  readonly buffer: number
  readonly after?: Readonly<Record<string, number>>
}
interface Wish {
  readonly reads?: boolean
  readonly clock?: number
}

const show = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const log = (message: string, fields: object): void =>
  show({ log: `${message} ${JSON.stringify(fields)}`, at: new Date(realNow()).toISOString() })

const { url, key_file, symbols, start, buffer, after } = JSON.parse(process.argv[2] ?? '{}') as Options
const { now: realNow } = Date
const key = (): string => readFileSync(key_file, 'utf8')
const fxd = new Fxd({ url, key, buffer, logger: { info: log, warn: log } })
const stream = fxd.bars(symbols, { from: start, ...(after && { after }) })

let reading = Promise.withResolvers<void>()
reading.resolve()
createInterface({ input: process.stdin }).on('line', (line) => {
  const { reads, clock } = JSON.parse(line) as Wish
  if (reads === undefined && clock === undefined)
    show({ position: stream.position, liveness: stream.liveness })
  if (clock !== undefined) Date.now = () => realNow() + 1_000 * clock
  if (reads ?? true) reading.resolve()
  else reading = Promise.withResolvers()
})

try {
  for await (const item of stream) {
    show(item)
    await reading.promise
  }
} catch (error) {
  if (!(error instanceof FxdError)) throw error
  const { code, status, closeCode: close, message } = error
  show({ failed: code, status, close, message })
  process.exit()
}
