import { type Command, InvalidArgumentError } from 'commander'
import { parseAddress } from '../platform/config/values.ts'
import { formatAddress, listenFailure, reachable } from '../platform/listen.ts'
import { Fatal } from '../platform/process/exit.ts'
import type { Finding } from '../roles/collector-check.ts'
import { type JsonOption, withJson } from './options.ts'
import { json } from './table.ts'
import { configOf, type Terminal } from './terminal.ts'

const secondsMax = 3_600
const defaultAddress = '127.0.0.1:8090'
const page = 'docs/collectors.md'

interface Options extends JsonOption {
  readonly seconds: number
}

/** A subcommand of `fxd collector`, which exists already. */
export function addCollectorCheck(program: Command, terminal: Terminal): void {
  const collector = program.commands.find((each) => each.name() === 'collector') ?? program
  withJson(collector.command('check'))
    .summary('play ingest for a collector of your own, and say what it does wrong')
    .description(
      'Play ingest for one collector of a feed of FXD_FEEDS: withhold and lose Acks, kill its connection, set the clock.\n' +
        'Each rule of docs/collectors.md prints a line. Nothing is stored. With FXD_TLS_CERT the collector needs TLS. It takes\n' +
        'about a minute with live bars at once, and about five with one live bar a minute. Ctrl-C ends it early.',
    )
    .argument('[address]', 'where the collector connects', defaultAddress)
    .option('--seconds <count>', 'end after this time at the latest', secondsOption, 600)
    .addHelpText('after', help)
    .action((address: string, options: Options) => check(address, options, terminal))
}

const help = `
The collector must send live bars: start it on a feed whose market is open, or append lines to its file.

Exit codes:
   0  nothing is wrong; rules that could not be judged say why
   1  something is wrong, or no collector connected
  71  the address is in use
  78  FXD_FEEDS or another variable is invalid`

function secondsOption(text: string): number {
  const seconds = Number(text)
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= secondsMax) return seconds
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${secondsMax}.`)
}

async function check(text: string, { seconds, json: isJson }: Options, terminal: Terminal): Promise<void> {
  const address = parseAddress(text, 'The address')
  const { runCollectorCheck } = await import('../roles/collector-check.ts')
  const { clock } = terminal
  const ending = new AbortController()
  const end = (): void => ending.abort()
  clock.after(seconds * 1_000, end)
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.once(signal, end)
  const begunMs = clock.monotonicMs()
  const say = (what: string): void =>
    terminal.err(`${Math.round((clock.monotonicMs() - begunMs) / 1_000)} s: ${what}\n`)
  try {
    const findings = await runCollectorCheck(configOf(terminal), {
      ...address,
      clock,
      ending: ending.signal,
      say,
      onWrong: (rule, sentence) => say(`WRONG: ${rule}: ${sentence}`),
      onReady({ port, feeds, tokenFile }) {
        const at = formatAddress(reachable({ ...address, port }))
        terminal.err(
          `Start the collector of ${feeds.join(' or ')} now. fxd collector takes these variables:\n`,
        )
        terminal.err(`FXD_INGEST=${at}\nFXD_TOKEN_FILE=${tokenFile}\n`)
      },
    }).catch((cause: unknown) => {
      if ((cause as NodeJS.ErrnoException).syscall !== 'listen') throw cause
      throw listenFailure(address, 'ADDRESS', cause)
    })
    print(findings, isJson === true, terminal)
  } finally {
    for (const signal of signals) process.off(signal, end)
  }
}

function print(findings: readonly Finding[], isJson: boolean, terminal: Terminal): void {
  terminal.out(isJson ? json(findings) : findings.map(linesOf).join(''))
  const wrong = findings.filter(({ state }) => state === 'wrong').length
  if (wrong > 0)
    throw new Fatal('refused', `The collector breaks ${wrong} ${wrong === 1 ? 'rule' : 'rules'} of ${page}.`)
  if (findings.every(({ state }) => state === 'not judged'))
    throw new Fatal('refused', 'No collector connected, so nothing was judged.')
}

const words = { ok: 'ok        ', wrong: 'WRONG     ', 'not judged': 'not judged' } as const

const linesOf = ({ rule, state, found, page: heading }: Finding): string =>
  found
    .map((sentence) => `${words[state]}  ${rule}: ${sentence}${state === 'wrong' ? ` ("${heading}")` : ''}\n`)
    .join('')
