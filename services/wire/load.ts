import { join } from 'node:path'
import { type GrpcObject, loadPackageDefinition, logVerbosity, setLogVerbosity } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import type { ProtoGrpcType as CollectorTypes } from './gen/collector.ts'
import type { ProtoGrpcType as RegistryTypes } from './gen/registry.ts'
import type { ProtoGrpcType as ShardTypes } from './gen/shard.ts'

// The library writes raw lines of its own to the console; what it has to say comes as an error too.
setLogVerbosity(logVerbosity.NONE)

const folder = join(import.meta.dirname, '../../proto')

/** As `proto/generate` writes the types: numbers stay numbers (half the cost), enums are their names. */
const definition = loadSync(['fxd/v1/collector.proto', 'fxd/v1/registry.proto', 'fxd/v1/shard.proto'], {
  includeDirs: [folder],
  longs: Number,
  enums: String,
  defaults: true,
  arrays: true,
  oneofs: true,
})

const loaded = loadPackageDefinition(definition) as GrpcObject & CollectorTypes & RegistryTypes & ShardTypes

/** Clients of the services, and under `.service` what a server needs of them. */
export const { Collector, Registry, Shard } = loaded.fxd.v1
