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
export type LogFormat = (typeof logFormats)[number]

/**
 * Of an error what it says and where it came from. Whatever else libraries hang on theirs stays out: the
 * Redis client puts the command there, with the password that it sent.
 */
function plain(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { type, message, stack } = pino.stdSerializers.err(error)
  const code = 'code' in error && { code: error.code }
  const several = error instanceof AggregateError && { causes: error.errors.map(String) }
  return { type, message, stack, ...code, ...several }
}

/** One JSON line per event. Queries and keys never reach it: no logger here gets a raw URL. */
export function createLog(level: LogLevel, destination: DestinationStream): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: plain } },
    destination,
  )
}

export interface ProcessLog {
  readonly log: Log
  /** Lines that standard error did not take and the queue had no room for, since the start. */
  dropped(): number
  /** Resolves once everything is written; never, while standard error takes nothing. */
  flush(): Promise<void>
}

const standardError = 2

/** The log of this process, on standard error: text at `warn` for a person at a terminal, else JSON at `info`. */
export function openProcessLog(format: LogFormat, level: LogLevel | undefined): ProcessLog {
  const isTerminal = isatty(standardError)
  const writer = new LogWriter({
    fd: descriptorThatNeverWaits(isTerminal),
    clock: systemClock,
    resumed: (lines) => log.error({ lines }, 'dropped log lines: standard error took none'),
  })
  const isText = format === 'text' || (format === 'auto' && isTerminal)
  const log = createLog(
    level ?? (isText && isTerminal ? 'warn' : 'info'),
    isText ? { write: (line) => writer.write(readableLine(line)) } : writer,
  )
  return { log, dropped: () => writer.dropped, flush: () => writer.flush() }
}

/** A write that waits would hold a thread, and the end of the process with it. */
function descriptorThatNeverWaits(isTerminal: boolean): number {
  // Node's stream puts a pipe or a socket into non-blocking mode when it is first asked for.
  void process.stderr
  if (!isTerminal) return standardError
  try {
    // Opened again, because the mode belongs to everybody who has the terminal open.
    return openSync('/proc/self/fd/2', constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  } catch {
    return standardError
  }
}

/** For tests and tools that have nothing to say. */
export const silentLog: Log = pino({ level: 'silent' })
