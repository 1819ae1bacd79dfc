import { fileURLToPath } from 'node:url'
import { loadSync } from '@grpc/proto-loader'
import type { CollectorDefinition } from './fxd/v1/Collector.ts'
import type { RegistryDefinition } from './fxd/v1/Registry.ts'

const protos = fileURLToPath(new URL('../../proto', import.meta.url))

/** The options that the generated types were made with: `proto/generate` and this list change together. */
const load = (file: string) =>
  loadSync(file, {
    includeDirs: [protos],
    longs: Number,
    enums: String,
    defaults: true,
    arrays: true,
    oneofs: true,
  })

/** `fxd.v1.Registry` as a server adds it and a client is made of. Reads the proto file. */
export const registryDefinition = (): RegistryDefinition =>
  load('fxd/v1/registry.proto')['fxd.v1.Registry'] as unknown as RegistryDefinition

/** `fxd.v1.Collector`, likewise. */
export const collectorDefinition = (): CollectorDefinition =>
  load('fxd/v1/collector.proto')['fxd.v1.Collector'] as unknown as CollectorDefinition
