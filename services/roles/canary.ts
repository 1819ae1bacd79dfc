import { Canary } from '../canary/canary.ts'
import { createCanaryMetrics, showStatus } from '../canary/metrics.ts'
import { RestClient } from '../canary/rest-client.ts'
import { feedOf } from '../core/feeds/compound-key.ts'
import { isKeyShaped } from '../core/keys/api-key.ts'
import { type Config, ConfigError } from '../platform/config.ts'
import { readSecretFile } from '../platform/credentials/secrets.ts'
import { drainAndStop, type Stoppable } from '../platform/process/drain-and-stop.ts'
import { type Overrides, type ProcessContext, runProcess } from '../platform/process/process-context.ts'
import { startHealth } from '../platform/process/start-health.ts'

export interface RunningCanary extends Stoppable {
  readonly opsPort: number
}

/** Runs a client that compares pushed bars with history. It is ready as soon as it runs. */
export async function startCanary(config: Config, overrides: Overrides = {}): Promise<RunningCanary> {
  const { canaryRest, canaryStream, canarySymbols } = config
  for (const [name, value] of [
    ['FXD_CANARY_REST', canaryRest],
    ['FXD_CANARY_STREAM', canaryStream],
    ['FXD_CANARY_SYMBOLS', canarySymbols[0]],
  ])
    if (value === undefined) throw new ConfigError(`A canary needs ${name}.`)
  keyOf(config)
  return runProcess(config, overrides, async (context) => {
    const health = await startHealth(context)
    await context.lifecycle.start({
      name: 'canary',
      start: () => begin(context),
      stop: ({ ending, running }) => {
        ending.abort()
        return running
      },
    })
    health.listening()
    return { opsPort: health.port, ...drainAndStop(context, health, () => Promise.resolve()) }
  })
}

function begin({ config, clock, log, metrics }: ProcessContext) {
  const ending = new AbortController()
  const symbols = config.canarySymbols
  const own = createCanaryMetrics(metrics, new Set(symbols.map(feedOf)))
  const key = (): string => keyOf(config)
  const canary = new Canary({
    streamUrl: config.canaryStream ?? '',
    key,
    symbols,
    settleMs: config.canarySettleSeconds * 1_000,
    rest: new RestClient({ url: config.canaryRest ?? '', key, clock, metrics: own, signal: ending.signal }),
    clock,
    log,
    metrics: own,
    signal: ending.signal,
  })
  showStatus(metrics, () => canary.status)
  return { ending, running: canary.run() }
}

/** Reads the key at each use: the file may be replaced. Other contents are not quoted: they must not reach the log. */
function keyOf({ canaryKeyFile: path }: Config): string {
  const [key] = path === undefined ? [] : (readSecretFile(path, 'FXD_CANARY_KEY_FILE') ?? [])
  if (path === undefined)
    throw new ConfigError('A canary needs FXD_CANARY_KEY_FILE, a file with its API key.')
  if (key === undefined) throw new ConfigError(`FXD_CANARY_KEY_FILE: there is no file at ${path}.`)
  if (!isKeyShaped(key)) throw new ConfigError(`FXD_CANARY_KEY_FILE: the file ${path} holds no API key.`)
  return key
}
