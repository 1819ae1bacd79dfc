import { readFileSync } from 'node:fs'
import { ConfigError } from '../../services/platform/config.ts'
import { listOf, mappingOf } from '../kube/object.ts'
import type { PodTemplate } from './objects.ts'

const variable = 'FXD_COLLECTOR_TEMPLATE'
/** Variables and volumes that the operator sets. */
const ownVariables = ['FXD_FEEDS', 'FXD_TOKEN_FILE', 'FXD_DATA_DIR', 'FXD_TERMINAL_TOKENS']
const ownVolumes = ['feed', 'token', 'spool', 'source', 'terminal']

/** Reads the pod template of collectors from the file. Throws `ConfigError` when it is unusable. */
export function readTemplate(path: string): PodTemplate {
  const document = parse(path)
  const { containers, volumes } = mappingOf(mappingOf(document)['spec'])
  const [first] = listOf(containers)
  if (first === undefined)
    throw new ConfigError(`${variable} (${path}): spec.containers: wanted at least one.`)
  refuseReserved(path, 'spec.containers[0].env', mappingOf(first)['env'], ownVariables)
  refuseReserved(path, 'spec.volumes', volumes, ownVolumes)
  return document as PodTemplate
}

function parse(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new ConfigError(`${variable} (${path}) cannot be read as JSON: ${(cause as Error).message}.`)
  }
}

function refuseReserved(path: string, place: string, items: unknown, reserved: readonly string[]): void {
  const taken = listOf(items)
    .map((item) => String(mappingOf(item)['name']))
    .find((name) => reserved.includes(name))
  if (taken === undefined) return
  throw new ConfigError(`${variable} (${path}): ${place}: the operator sets ${taken}; leave it out.`)
}
