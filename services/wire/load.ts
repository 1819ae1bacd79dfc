import { join } from 'node:path'
import { type GrpcObject, loadPackageDefinition, logVerbosity, setLogVerbosity } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { ProtoGrpcType as CollectorTypes } from './gen/collector.ts'
import type { ProtoGrpcType as RegistryTypes } from './gen/registry.ts'
import type { ProtoGrpcType as ShardTypes } from './gen/shard.ts'

// The library would write raw lines to the console; the same faults arrive as errors.
setLogVerbosity(logVerbosity.NONE)

const folder = join(import.meta.dirname, '../../proto')

/** Options as in `proto/generate`: 64-bit integers are numbers (half the cost), enums are their names. */
const definition = loadSync(['fxd/v1/collector.proto', 'fxd/v1/registry.proto', 'fxd/v1/shard.proto'], {
  includeDirs: [folder],
  longs: Number,
  enums: String,
  defaults: true,
  arrays: true,
  oneofs: true,
})

const loaded = loadPackageDefinition(definition) as GrpcObject & CollectorTypes & RegistryTypes & ShardTypes

/** Clients of the services; `.service` is the definition for a server. */
export const { Collector, Registry, Shard } = loaded.fxd.v1
