import { constants, openSync } from 'node:fs'
import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, pino } from 'pino'
import { systemClock } from '../system-clock.ts'
import { readableLine } from './log-text.ts'
import { LogWriter } from './log-writer.ts'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'child'>
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]
export const logFormats = ['auto', 'json', 'text'] as const
type LogFormat = (typeof logFormats)[number]

/** Leaves out fields that libraries add: the Redis client adds the command, with the password that it sent. */
function plain(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { type, message, stack } = pino.stdSerializers.err(error)
  const code = 'code' in error && { code: error.code }
  const several = error instanceof AggregateError && { causes: error.errors.map(String) }
  return { type, message, stack, ...code, ...several }
}

/** Writes one JSON line per event. No logger gets a raw URL, so queries and keys never reach the log. */
export function createLog(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: plain } },
    destination,
  )
}

export interface ProcessLog {
  readonly log: Log
  /** Lines dropped since the start, because standard error accepted none and the queue was full. */
  dropped(): number
  /** Resolves once everything is written; not while standard error accepts nothing. */
  flush(): Promise<void>
}

const standardError = 2

/** The log of this process, on standard error. By default text at `warn` on a terminal, else JSON at `info`. */
export function openProcessLog(format: LogFormat, level: LogLevel | undefined): ProcessLog {
  const isTerminal = isatty(standardError)
  const writer = new LogWriter({
    fd: descriptorThatNeverWaits(isTerminal),
    clock: systemClock,
    resumed: (lines) => log.error({ lines }, 'log lines dropped: standard error was blocked'),
  })
  const isText = format === 'text' || (format === 'auto' && isTerminal)
  const log = createLog(
    level ?? (isText && isTerminal ? 'warn' : 'info'),
    isText ? { write: (line) => writer.write(readableLine(line)) } : writer,
  )
  return { log, dropped: () => writer.dropped, flush: () => writer.flush() }
}

/** A blocking write would block a thread, and with it the end of the process. */
function descriptorThatNeverWaits(isTerminal: boolean): number {
  // Node's stream puts a pipe or a socket into non-blocking mode at its first use.
  void process.stderr
  if (!isTerminal) return standardError
  try {
    // Opened again, because the mode is shared by all processes that have the terminal open.
    return openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return standardError
  }
}

/** For tests and tools that log nothing. */
export const silentLog: Log = pino({ level: 'silent' })
