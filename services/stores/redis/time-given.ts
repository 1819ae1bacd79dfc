import type { RedisStoreOptions } from './options.ts'

/** The first argument of each script: empty where Redis's own clock decides. */
export const timeGiven =
  ({ time }: Pick<RedisStoreOptions, 'time'>) =>
  (): string =>
    time === undefined ? '' : String(time.utcMs())
