import { type Finding, Findings, type Rule } from './findings.ts'
import type { MovedClock } from './moved-clock.ts'
import { Relay, type RelayOptions } from './relay.ts'
import { play } from './script.ts'
import { Sessions } from './sessions.ts'

const tickMs = 500

export interface CheckOptions extends Pick<RelayOptions, 'ingest' | 'tls'> {
  readonly clock: MovedClock
  readonly host: string
  readonly port: number
  /** Ends the check early. */
  readonly ending: AbortSignal
  readonly onListening: (port: number) => void
  /** Tells what happens, in a sentence. */
  readonly say: (what: string) => void
  readonly onWrong: (rule: Rule, sentence: string) => void
}

/** Plays ingest for a collector and judges what it sends. Resolves when everything was seen, or at the end. */
export async function checkCollector(options: CheckOptions): Promise<readonly Finding[]> {
  const { clock, ending, say } = options
  const findings = new Findings(options.onWrong)
  const sessions = new Sessions(clock, findings)
  const { unacked } = sessions
  const relay = new Relay({ ...options, opened: (session) => sessions.open(session) })
  options.onListening(await relay.listen(options.host, options.port))
  const stopTicking = clock.clock.every(tickMs, () => sessions.tick())
  try {
    await play({ clock, relay, findings, unacked, ending, say, sessions })
    sessions.tick()
  } finally {
    stopTicking()
    await relay.close()
  }
  return findings.list()
}
