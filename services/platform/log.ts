import { type DestinationStream, type Logger, pino } from 'pino'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'child'>
export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

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

/** One JSON line per event on standard error. Queries and keys never reach it: no logger here gets a raw URL. */
export function createLog(level: LogLevel, destination?: DestinationStream): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: plain } },
    destination ?? pino.destination(2),
  )
}

/** For tests and tools that have nothing to say. */
export const silentLog: Log = pino({ level: 'silent' })
