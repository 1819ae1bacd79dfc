// Original file: proto/fxd/v1/shard.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { DrainRequest as _fxd_v1_DrainRequest, DrainRequest__Output as _fxd_v1_DrainRequest__Output } from '../../fxd/v1/DrainRequest.ts';
import type { GetLoadRequest as _fxd_v1_GetLoadRequest, GetLoadRequest__Output as _fxd_v1_GetLoadRequest__Output } from '../../fxd/v1/GetLoadRequest.ts';
import type { Load as _fxd_v1_Load, Load__Output as _fxd_v1_Load__Output } from '../../fxd/v1/Load.ts';
import type { UndrainRequest as _fxd_v1_UndrainRequest, UndrainRequest__Output as _fxd_v1_UndrainRequest__Output } from '../../fxd/v1/UndrainRequest.ts';

/**
 * Calls of the operator to one process that serves sockets.
 * Requires `authorization: Bearer <token>` metadata with the token of the shards (FXD_SHARD_TOKEN_FILE), else UNAUTHENTICATED.
 */
export interface ShardClient extends grpc.Client {
  /**
   * Starts a drain: the shard is not ready, and it closes its sockets with 1012, spread evenly over the time. It closes
   * none at the end of a minute while the time allows that. Answers immediately; call GetLoad until no connection is left.
   * A repeated call never extends the time.
   */
  Drain(argument: _fxd_v1_DrainRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  Drain(argument: _fxd_v1_DrainRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  Drain(argument: _fxd_v1_DrainRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  Drain(argument: _fxd_v1_DrainRequest, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  /**
   * Starts a drain: the shard is not ready, and it closes its sockets with 1012, spread evenly over the time. It closes
   * none at the end of a minute while the time allows that. Answers immediately; call GetLoad until no connection is left.
   * A repeated call never extends the time.
   */
  drain(argument: _fxd_v1_DrainRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  drain(argument: _fxd_v1_DrainRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  drain(argument: _fxd_v1_DrainRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  drain(argument: _fxd_v1_DrainRequest, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  
  GetLoad(argument: _fxd_v1_GetLoadRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  GetLoad(argument: _fxd_v1_GetLoadRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  GetLoad(argument: _fxd_v1_GetLoadRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  GetLoad(argument: _fxd_v1_GetLoadRequest, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  getLoad(argument: _fxd_v1_GetLoadRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  getLoad(argument: _fxd_v1_GetLoadRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  getLoad(argument: _fxd_v1_GetLoadRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  getLoad(argument: _fxd_v1_GetLoadRequest, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  
  /**
   * Cancels a drain: open sockets stay, and new ones are accepted again. The drain of a stopping process continues.
   */
  Undrain(argument: _fxd_v1_UndrainRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  Undrain(argument: _fxd_v1_UndrainRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  Undrain(argument: _fxd_v1_UndrainRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  Undrain(argument: _fxd_v1_UndrainRequest, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  /**
   * Cancels a drain: open sockets stay, and new ones are accepted again. The drain of a stopping process continues.
   */
  undrain(argument: _fxd_v1_UndrainRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  undrain(argument: _fxd_v1_UndrainRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  undrain(argument: _fxd_v1_UndrainRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  undrain(argument: _fxd_v1_UndrainRequest, callback: grpc.requestCallback<_fxd_v1_Load__Output>): grpc.ClientUnaryCall;
  
}

/**
 * Calls of the operator to one process that serves sockets.
 * Requires `authorization: Bearer <token>` metadata with the token of the shards (FXD_SHARD_TOKEN_FILE), else UNAUTHENTICATED.
 */
export interface ShardHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Starts a drain: the shard is not ready, and it closes its sockets with 1012, spread evenly over the time. It closes
   * none at the end of a minute while the time allows that. Answers immediately; call GetLoad until no connection is left.
   * A repeated call never extends the time.
   */
  Drain: grpc.handleUnaryCall<_fxd_v1_DrainRequest__Output, _fxd_v1_Load>;
  
  GetLoad: grpc.handleUnaryCall<_fxd_v1_GetLoadRequest__Output, _fxd_v1_Load>;
  
  /**
   * Cancels a drain: open sockets stay, and new ones are accepted again. The drain of a stopping process continues.
   */
  Undrain: grpc.handleUnaryCall<_fxd_v1_UndrainRequest__Output, _fxd_v1_Load>;
  
}

export interface ShardDefinition extends grpc.ServiceDefinition {
  Drain: MethodDefinition<_fxd_v1_DrainRequest, _fxd_v1_Load, _fxd_v1_DrainRequest__Output, _fxd_v1_Load__Output>
  GetLoad: MethodDefinition<_fxd_v1_GetLoadRequest, _fxd_v1_Load, _fxd_v1_GetLoadRequest__Output, _fxd_v1_Load__Output>
  Undrain: MethodDefinition<_fxd_v1_UndrainRequest, _fxd_v1_Load, _fxd_v1_UndrainRequest__Output, _fxd_v1_Load__Output>
}
