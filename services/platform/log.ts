import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'child'>
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** One JSON line per event on standard error. Queries and keys never reach it: no logger here gets a raw URL. */
export function createLog(level: LogLevel, destination?: DestinationStream): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    destination ?? pino.destination(2),
  )
}

/** For tests and tools that have nothing to say. */
export const silentLog: Log = pino({ level: 'silent' })
