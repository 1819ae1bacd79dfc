import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { DrainRequest as _fxd_v1_DrainRequest, DrainRequest__Output as _fxd_v1_DrainRequest__Output } from './fxd/v1/DrainRequest.ts';
import type { GetLoadRequest as _fxd_v1_GetLoadRequest, GetLoadRequest__Output as _fxd_v1_GetLoadRequest__Output } from './fxd/v1/GetLoadRequest.ts';
import type { Load as _fxd_v1_Load, Load__Output as _fxd_v1_Load__Output } from './fxd/v1/Load.ts';
import type { ShardClient as _fxd_v1_ShardClient, ShardDefinition as _fxd_v1_ShardDefinition } from './fxd/v1/Shard.ts';
import type { UndrainRequest as _fxd_v1_UndrainRequest, UndrainRequest__Output as _fxd_v1_UndrainRequest__Output } from './fxd/v1/UndrainRequest.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  fxd: {
    v1: {
      DrainRequest: MessageTypeDefinition<_fxd_v1_DrainRequest, _fxd_v1_DrainRequest__Output>
      GetLoadRequest: MessageTypeDefinition<_fxd_v1_GetLoadRequest, _fxd_v1_GetLoadRequest__Output>
      Load: MessageTypeDefinition<_fxd_v1_Load, _fxd_v1_Load__Output>
      /**
       * Calls of the operator to one process that serves sockets.
       * Requires `authorization: Bearer <token>` metadata with the token of the shards (FXD_SHARD_TOKEN_FILE), else UNAUTHENTICATED.
       */
      Shard: SubtypeConstructor<typeof grpc.Client, _fxd_v1_ShardClient> & { service: _fxd_v1_ShardDefinition }
      UndrainRequest: MessageTypeDefinition<_fxd_v1_UndrainRequest, _fxd_v1_UndrainRequest__Output>
    }
  }
}

