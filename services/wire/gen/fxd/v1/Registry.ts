// Original file: proto/fxd/v1/registry.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AcceptTablesRequest as _fxd_v1_AcceptTablesRequest, AcceptTablesRequest__Output as _fxd_v1_AcceptTablesRequest__Output } from '../../fxd/v1/AcceptTablesRequest.ts';
import type { AcceptTablesResponse as _fxd_v1_AcceptTablesResponse, AcceptTablesResponse__Output as _fxd_v1_AcceptTablesResponse__Output } from '../../fxd/v1/AcceptTablesResponse.ts';
import type { AcceptTerminalRequest as _fxd_v1_AcceptTerminalRequest, AcceptTerminalRequest__Output as _fxd_v1_AcceptTerminalRequest__Output } from '../../fxd/v1/AcceptTerminalRequest.ts';
import type { AcceptTerminalResponse as _fxd_v1_AcceptTerminalResponse, AcceptTerminalResponse__Output as _fxd_v1_AcceptTerminalResponse__Output } from '../../fxd/v1/AcceptTerminalResponse.ts';
import type { ApplyFeedRequest as _fxd_v1_ApplyFeedRequest, ApplyFeedRequest__Output as _fxd_v1_ApplyFeedRequest__Output } from '../../fxd/v1/ApplyFeedRequest.ts';
import type { BackfillRequest as _fxd_v1_BackfillRequest, BackfillRequest__Output as _fxd_v1_BackfillRequest__Output } from '../../fxd/v1/BackfillRequest.ts';
import type { BackfillResponse as _fxd_v1_BackfillResponse, BackfillResponse__Output as _fxd_v1_BackfillResponse__Output } from '../../fxd/v1/BackfillResponse.ts';
import type { BeginStoreRequest as _fxd_v1_BeginStoreRequest, BeginStoreRequest__Output as _fxd_v1_BeginStoreRequest__Output } from '../../fxd/v1/BeginStoreRequest.ts';
import type { BeginStoreResponse as _fxd_v1_BeginStoreResponse, BeginStoreResponse__Output as _fxd_v1_BeginStoreResponse__Output } from '../../fxd/v1/BeginStoreResponse.ts';
import type { ClockHistory as _fxd_v1_ClockHistory, ClockHistory__Output as _fxd_v1_ClockHistory__Output } from '../../fxd/v1/ClockHistory.ts';
import type { CreateKeyRequest as _fxd_v1_CreateKeyRequest, CreateKeyRequest__Output as _fxd_v1_CreateKeyRequest__Output } from '../../fxd/v1/CreateKeyRequest.ts';
import type { Feed as _fxd_v1_Feed, Feed__Output as _fxd_v1_Feed__Output } from '../../fxd/v1/Feed.ts';
import type { GetClockRequest as _fxd_v1_GetClockRequest, GetClockRequest__Output as _fxd_v1_GetClockRequest__Output } from '../../fxd/v1/GetClockRequest.ts';
import type { GetFeedRequest as _fxd_v1_GetFeedRequest, GetFeedRequest__Output as _fxd_v1_GetFeedRequest__Output } from '../../fxd/v1/GetFeedRequest.ts';
import type { GetHealthRequest as _fxd_v1_GetHealthRequest, GetHealthRequest__Output as _fxd_v1_GetHealthRequest__Output } from '../../fxd/v1/GetHealthRequest.ts';
import type { GetKeyRequest as _fxd_v1_GetKeyRequest, GetKeyRequest__Output as _fxd_v1_GetKeyRequest__Output } from '../../fxd/v1/GetKeyRequest.ts';
import type { Health as _fxd_v1_Health, Health__Output as _fxd_v1_Health__Output } from '../../fxd/v1/Health.ts';
import type { IssueFeedTokenRequest as _fxd_v1_IssueFeedTokenRequest, IssueFeedTokenRequest__Output as _fxd_v1_IssueFeedTokenRequest__Output } from '../../fxd/v1/IssueFeedTokenRequest.ts';
import type { IssueFeedTokenResponse as _fxd_v1_IssueFeedTokenResponse, IssueFeedTokenResponse__Output as _fxd_v1_IssueFeedTokenResponse__Output } from '../../fxd/v1/IssueFeedTokenResponse.ts';
import type { IssuedKey as _fxd_v1_IssuedKey, IssuedKey__Output as _fxd_v1_IssuedKey__Output } from '../../fxd/v1/IssuedKey.ts';
import type { Key as _fxd_v1_Key, Key__Output as _fxd_v1_Key__Output } from '../../fxd/v1/Key.ts';
import type { ListFeedsRequest as _fxd_v1_ListFeedsRequest, ListFeedsRequest__Output as _fxd_v1_ListFeedsRequest__Output } from '../../fxd/v1/ListFeedsRequest.ts';
import type { ListFeedsResponse as _fxd_v1_ListFeedsResponse, ListFeedsResponse__Output as _fxd_v1_ListFeedsResponse__Output } from '../../fxd/v1/ListFeedsResponse.ts';
import type { ListKeysRequest as _fxd_v1_ListKeysRequest, ListKeysRequest__Output as _fxd_v1_ListKeysRequest__Output } from '../../fxd/v1/ListKeysRequest.ts';
import type { ListKeysResponse as _fxd_v1_ListKeysResponse, ListKeysResponse__Output as _fxd_v1_ListKeysResponse__Output } from '../../fxd/v1/ListKeysResponse.ts';
import type { ListTopKeysRequest as _fxd_v1_ListTopKeysRequest, ListTopKeysRequest__Output as _fxd_v1_ListTopKeysRequest__Output } from '../../fxd/v1/ListTopKeysRequest.ts';
import type { ListTopKeysResponse as _fxd_v1_ListTopKeysResponse, ListTopKeysResponse__Output as _fxd_v1_ListTopKeysResponse__Output } from '../../fxd/v1/ListTopKeysResponse.ts';
import type { PurgeFeedRequest as _fxd_v1_PurgeFeedRequest, PurgeFeedRequest__Output as _fxd_v1_PurgeFeedRequest__Output } from '../../fxd/v1/PurgeFeedRequest.ts';
import type { PurgeFeedResponse as _fxd_v1_PurgeFeedResponse, PurgeFeedResponse__Output as _fxd_v1_PurgeFeedResponse__Output } from '../../fxd/v1/PurgeFeedResponse.ts';
import type { PutKeyRequest as _fxd_v1_PutKeyRequest, PutKeyRequest__Output as _fxd_v1_PutKeyRequest__Output } from '../../fxd/v1/PutKeyRequest.ts';
import type { RefillTableRequest as _fxd_v1_RefillTableRequest, RefillTableRequest__Output as _fxd_v1_RefillTableRequest__Output } from '../../fxd/v1/RefillTableRequest.ts';
import type { RefillTableResponse as _fxd_v1_RefillTableResponse, RefillTableResponse__Output as _fxd_v1_RefillTableResponse__Output } from '../../fxd/v1/RefillTableResponse.ts';
import type { RemoveFeedRequest as _fxd_v1_RemoveFeedRequest, RemoveFeedRequest__Output as _fxd_v1_RemoveFeedRequest__Output } from '../../fxd/v1/RemoveFeedRequest.ts';
import type { RemoveFeedResponse as _fxd_v1_RemoveFeedResponse, RemoveFeedResponse__Output as _fxd_v1_RemoveFeedResponse__Output } from '../../fxd/v1/RemoveFeedResponse.ts';
import type { RemoveSymbolRequest as _fxd_v1_RemoveSymbolRequest, RemoveSymbolRequest__Output as _fxd_v1_RemoveSymbolRequest__Output } from '../../fxd/v1/RemoveSymbolRequest.ts';
import type { RemoveSymbolResponse as _fxd_v1_RemoveSymbolResponse, RemoveSymbolResponse__Output as _fxd_v1_RemoveSymbolResponse__Output } from '../../fxd/v1/RemoveSymbolResponse.ts';
import type { RevokeKeyRequest as _fxd_v1_RevokeKeyRequest, RevokeKeyRequest__Output as _fxd_v1_RevokeKeyRequest__Output } from '../../fxd/v1/RevokeKeyRequest.ts';
import type { RotateKeyRequest as _fxd_v1_RotateKeyRequest, RotateKeyRequest__Output as _fxd_v1_RotateKeyRequest__Output } from '../../fxd/v1/RotateKeyRequest.ts';
import type { SetFeedsOwnerRequest as _fxd_v1_SetFeedsOwnerRequest, SetFeedsOwnerRequest__Output as _fxd_v1_SetFeedsOwnerRequest__Output } from '../../fxd/v1/SetFeedsOwnerRequest.ts';
import type { SetFeedsOwnerResponse as _fxd_v1_SetFeedsOwnerResponse, SetFeedsOwnerResponse__Output as _fxd_v1_SetFeedsOwnerResponse__Output } from '../../fxd/v1/SetFeedsOwnerResponse.ts';
import type { SuspendKeyRequest as _fxd_v1_SuspendKeyRequest, SuspendKeyRequest__Output as _fxd_v1_SuspendKeyRequest__Output } from '../../fxd/v1/SuspendKeyRequest.ts';
import type { SuspendKeyResponse as _fxd_v1_SuspendKeyResponse, SuspendKeyResponse__Output as _fxd_v1_SuspendKeyResponse__Output } from '../../fxd/v1/SuspendKeyResponse.ts';
import type { UpdateKeyRequest as _fxd_v1_UpdateKeyRequest, UpdateKeyRequest__Output as _fxd_v1_UpdateKeyRequest__Output } from '../../fxd/v1/UpdateKeyRequest.ts';

/**
 * The only administration API, for the command line and the operator.
 * Requires `authorization: Bearer <token>` metadata with the administration token, or a client certificate with
 * the URI fxd://admin. Every error has a message. Common statuses:
 * - UNAUTHENTICATED: a missing or invalid credential.
 * - PERMISSION_DENIED: the credential of a collector.
 * - INVALID_ARGUMENT: invalid input.
 * - NOT_FOUND: unknown key or feed.
 * - FAILED_PRECONDITION: the state of the key or feed forbids the change.
 * - ABORTED: the change is based on an outdated version; read again, then retry once. Version 0 means any version.
 */
export interface RegistryClient extends grpc.Client {
  /**
   * Uses tables of the store as they are, after they were copied or restored. Sessions of their feeds end and start
   * again. FAILED_PRECONDITION: a named table is missing, or the store has no tables of its own.
   */
  AcceptTables(argument: _fxd_v1_AcceptTablesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_AcceptTablesResponse__Output>): grpc.ClientUnaryCall;
  AcceptTables(argument: _fxd_v1_AcceptTablesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_AcceptTablesResponse__Output>): grpc.ClientUnaryCall;
  AcceptTables(argument: _fxd_v1_AcceptTablesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_AcceptTablesResponse__Output>): grpc.ClientUnaryCall;
  AcceptTables(argument: _fxd_v1_AcceptTablesRequest, callback: grpc.requestCallback<_fxd_v1_AcceptTablesResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Uses tables of the store as they are, after they were copied or restored. Sessions of their feeds end and start
   * again. FAILED_PRECONDITION: a named table is missing, or the store has no tables of its own.
   */
  acceptTables(argument: _fxd_v1_AcceptTablesRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_AcceptTablesResponse__Output>): grpc.ClientUnaryCall;
  acceptTables(argument: _fxd_v1_AcceptTablesRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_AcceptTablesResponse__Output>): grpc.ClientUnaryCall;
  acceptTables(argument: _fxd_v1_AcceptTablesRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_AcceptTablesResponse__Output>): grpc.ClientUnaryCall;
  acceptTables(argument: _fxd_v1_AcceptTablesRequest, callback: grpc.requestCallback<_fxd_v1_AcceptTablesResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Accepts the next terminal of the feed, whatever its account. The collector's session ends within 5 s and begins again.
   * Idempotent.
   * FAILED_PRECONDITION: the source of the feed is not Terminal.
   */
  AcceptTerminal(argument: _fxd_v1_AcceptTerminalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_AcceptTerminalResponse__Output>): grpc.ClientUnaryCall;
  AcceptTerminal(argument: _fxd_v1_AcceptTerminalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_AcceptTerminalResponse__Output>): grpc.ClientUnaryCall;
  AcceptTerminal(argument: _fxd_v1_AcceptTerminalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_AcceptTerminalResponse__Output>): grpc.ClientUnaryCall;
  AcceptTerminal(argument: _fxd_v1_AcceptTerminalRequest, callback: grpc.requestCallback<_fxd_v1_AcceptTerminalResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Accepts the next terminal of the feed, whatever its account. The collector's session ends within 5 s and begins again.
   * Idempotent.
   * FAILED_PRECONDITION: the source of the feed is not Terminal.
   */
  acceptTerminal(argument: _fxd_v1_AcceptTerminalRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_AcceptTerminalResponse__Output>): grpc.ClientUnaryCall;
  acceptTerminal(argument: _fxd_v1_AcceptTerminalRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_AcceptTerminalResponse__Output>): grpc.ClientUnaryCall;
  acceptTerminal(argument: _fxd_v1_AcceptTerminalRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_AcceptTerminalResponse__Output>): grpc.ClientUnaryCall;
  acceptTerminal(argument: _fxd_v1_AcceptTerminalRequest, callback: grpc.requestCallback<_fxd_v1_AcceptTerminalResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Creates or changes one feed. Idempotent. INVALID_ARGUMENT: the manifest is invalid; each fault is a line of
   * the message. FAILED_PRECONDITION: manifests or another object own the feed.
   */
  ApplyFeed(argument: _fxd_v1_ApplyFeedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  ApplyFeed(argument: _fxd_v1_ApplyFeedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  ApplyFeed(argument: _fxd_v1_ApplyFeedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  ApplyFeed(argument: _fxd_v1_ApplyFeedRequest, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  /**
   * Creates or changes one feed. Idempotent. INVALID_ARGUMENT: the manifest is invalid; each fault is a line of
   * the message. FAILED_PRECONDITION: manifests or another object own the feed.
   */
  applyFeed(argument: _fxd_v1_ApplyFeedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  applyFeed(argument: _fxd_v1_ApplyFeedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  applyFeed(argument: _fxd_v1_ApplyFeedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  applyFeed(argument: _fxd_v1_ApplyFeedRequest, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  
  /**
   * Withdraws the windows of a time range, and ends the active session of the feed. Its collector connects again, learns
   * from Known what is missing, and sends the bars of the range again as far as its source has them. Bars stay stored;
   * those that differ are replaced. Idempotent. FAILED_PRECONDITION: the feed is hidden, its clock is unknown, or its
   * collector reads nothing in this range.
   */
  Backfill(argument: _fxd_v1_BackfillRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_BackfillResponse__Output>): grpc.ClientUnaryCall;
  Backfill(argument: _fxd_v1_BackfillRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_BackfillResponse__Output>): grpc.ClientUnaryCall;
  Backfill(argument: _fxd_v1_BackfillRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_BackfillResponse__Output>): grpc.ClientUnaryCall;
  Backfill(argument: _fxd_v1_BackfillRequest, callback: grpc.requestCallback<_fxd_v1_BackfillResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Withdraws the windows of a time range, and ends the active session of the feed. Its collector connects again, learns
   * from Known what is missing, and sends the bars of the range again as far as its source has them. Bars stay stored;
   * those that differ are replaced. Idempotent. FAILED_PRECONDITION: the feed is hidden, its clock is unknown, or its
   * collector reads nothing in this range.
   */
  backfill(argument: _fxd_v1_BackfillRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_BackfillResponse__Output>): grpc.ClientUnaryCall;
  backfill(argument: _fxd_v1_BackfillRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_BackfillResponse__Output>): grpc.ClientUnaryCall;
  backfill(argument: _fxd_v1_BackfillRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_BackfillResponse__Output>): grpc.ClientUnaryCall;
  backfill(argument: _fxd_v1_BackfillRequest, callback: grpc.requestCallback<_fxd_v1_BackfillResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Accepts the store that ingest refuses, because it is empty or another one, as a new beginning. Ingest
   * answers this call while it refuses the store. FAILED_PRECONDITION: the store is not refused.
   */
  BeginStore(argument: _fxd_v1_BeginStoreRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_BeginStoreResponse__Output>): grpc.ClientUnaryCall;
  BeginStore(argument: _fxd_v1_BeginStoreRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_BeginStoreResponse__Output>): grpc.ClientUnaryCall;
  BeginStore(argument: _fxd_v1_BeginStoreRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_BeginStoreResponse__Output>): grpc.ClientUnaryCall;
  BeginStore(argument: _fxd_v1_BeginStoreRequest, callback: grpc.requestCallback<_fxd_v1_BeginStoreResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Accepts the store that ingest refuses, because it is empty or another one, as a new beginning. Ingest
   * answers this call while it refuses the store. FAILED_PRECONDITION: the store is not refused.
   */
  beginStore(argument: _fxd_v1_BeginStoreRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_BeginStoreResponse__Output>): grpc.ClientUnaryCall;
  beginStore(argument: _fxd_v1_BeginStoreRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_BeginStoreResponse__Output>): grpc.ClientUnaryCall;
  beginStore(argument: _fxd_v1_BeginStoreRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_BeginStoreResponse__Output>): grpc.ClientUnaryCall;
  beginStore(argument: _fxd_v1_BeginStoreRequest, callback: grpc.requestCallback<_fxd_v1_BeginStoreResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Only this answer contains the key itself.
   */
  CreateKey(argument: _fxd_v1_CreateKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  CreateKey(argument: _fxd_v1_CreateKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  CreateKey(argument: _fxd_v1_CreateKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  CreateKey(argument: _fxd_v1_CreateKeyRequest, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  /**
   * Only this answer contains the key itself.
   */
  createKey(argument: _fxd_v1_CreateKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  createKey(argument: _fxd_v1_CreateKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  createKey(argument: _fxd_v1_CreateKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  createKey(argument: _fxd_v1_CreateKeyRequest, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  
  /**
   * The offsets of a feed's clock from UTC.
   */
  GetClock(argument: _fxd_v1_GetClockRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ClockHistory__Output>): grpc.ClientUnaryCall;
  GetClock(argument: _fxd_v1_GetClockRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_ClockHistory__Output>): grpc.ClientUnaryCall;
  GetClock(argument: _fxd_v1_GetClockRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ClockHistory__Output>): grpc.ClientUnaryCall;
  GetClock(argument: _fxd_v1_GetClockRequest, callback: grpc.requestCallback<_fxd_v1_ClockHistory__Output>): grpc.ClientUnaryCall;
  /**
   * The offsets of a feed's clock from UTC.
   */
  getClock(argument: _fxd_v1_GetClockRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ClockHistory__Output>): grpc.ClientUnaryCall;
  getClock(argument: _fxd_v1_GetClockRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_ClockHistory__Output>): grpc.ClientUnaryCall;
  getClock(argument: _fxd_v1_GetClockRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ClockHistory__Output>): grpc.ClientUnaryCall;
  getClock(argument: _fxd_v1_GetClockRequest, callback: grpc.requestCallback<_fxd_v1_ClockHistory__Output>): grpc.ClientUnaryCall;
  
  GetFeed(argument: _fxd_v1_GetFeedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  GetFeed(argument: _fxd_v1_GetFeedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  GetFeed(argument: _fxd_v1_GetFeedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  GetFeed(argument: _fxd_v1_GetFeedRequest, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  getFeed(argument: _fxd_v1_GetFeedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  getFeed(argument: _fxd_v1_GetFeedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  getFeed(argument: _fxd_v1_GetFeedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  getFeed(argument: _fxd_v1_GetFeedRequest, callback: grpc.requestCallback<_fxd_v1_Feed__Output>): grpc.ClientUnaryCall;
  
  /**
   * Whether the store and the bus work, as this ingest sees them. It answers while they do not.
   */
  GetHealth(argument: _fxd_v1_GetHealthRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Health__Output>): grpc.ClientUnaryCall;
  GetHealth(argument: _fxd_v1_GetHealthRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Health__Output>): grpc.ClientUnaryCall;
  GetHealth(argument: _fxd_v1_GetHealthRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Health__Output>): grpc.ClientUnaryCall;
  GetHealth(argument: _fxd_v1_GetHealthRequest, callback: grpc.requestCallback<_fxd_v1_Health__Output>): grpc.ClientUnaryCall;
  /**
   * Whether the store and the bus work, as this ingest sees them. It answers while they do not.
   */
  getHealth(argument: _fxd_v1_GetHealthRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Health__Output>): grpc.ClientUnaryCall;
  getHealth(argument: _fxd_v1_GetHealthRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Health__Output>): grpc.ClientUnaryCall;
  getHealth(argument: _fxd_v1_GetHealthRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Health__Output>): grpc.ClientUnaryCall;
  getHealth(argument: _fxd_v1_GetHealthRequest, callback: grpc.requestCallback<_fxd_v1_Health__Output>): grpc.ClientUnaryCall;
  
  GetKey(argument: _fxd_v1_GetKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  GetKey(argument: _fxd_v1_GetKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  GetKey(argument: _fxd_v1_GetKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  GetKey(argument: _fxd_v1_GetKeyRequest, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  getKey(argument: _fxd_v1_GetKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  getKey(argument: _fxd_v1_GetKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  getKey(argument: _fxd_v1_GetKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  getKey(argument: _fxd_v1_GetKeyRequest, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  
  /**
   * Only this answer contains the token; the token is not stored.
   */
  IssueFeedToken(argument: _fxd_v1_IssueFeedTokenRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssueFeedTokenResponse__Output>): grpc.ClientUnaryCall;
  IssueFeedToken(argument: _fxd_v1_IssueFeedTokenRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_IssueFeedTokenResponse__Output>): grpc.ClientUnaryCall;
  IssueFeedToken(argument: _fxd_v1_IssueFeedTokenRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssueFeedTokenResponse__Output>): grpc.ClientUnaryCall;
  IssueFeedToken(argument: _fxd_v1_IssueFeedTokenRequest, callback: grpc.requestCallback<_fxd_v1_IssueFeedTokenResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Only this answer contains the token; the token is not stored.
   */
  issueFeedToken(argument: _fxd_v1_IssueFeedTokenRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssueFeedTokenResponse__Output>): grpc.ClientUnaryCall;
  issueFeedToken(argument: _fxd_v1_IssueFeedTokenRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_IssueFeedTokenResponse__Output>): grpc.ClientUnaryCall;
  issueFeedToken(argument: _fxd_v1_IssueFeedTokenRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssueFeedTokenResponse__Output>): grpc.ClientUnaryCall;
  issueFeedToken(argument: _fxd_v1_IssueFeedTokenRequest, callback: grpc.requestCallback<_fxd_v1_IssueFeedTokenResponse__Output>): grpc.ClientUnaryCall;
  
  ListFeeds(argument: _fxd_v1_ListFeedsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListFeedsResponse__Output>): grpc.ClientUnaryCall;
  ListFeeds(argument: _fxd_v1_ListFeedsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_ListFeedsResponse__Output>): grpc.ClientUnaryCall;
  ListFeeds(argument: _fxd_v1_ListFeedsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListFeedsResponse__Output>): grpc.ClientUnaryCall;
  ListFeeds(argument: _fxd_v1_ListFeedsRequest, callback: grpc.requestCallback<_fxd_v1_ListFeedsResponse__Output>): grpc.ClientUnaryCall;
  listFeeds(argument: _fxd_v1_ListFeedsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListFeedsResponse__Output>): grpc.ClientUnaryCall;
  listFeeds(argument: _fxd_v1_ListFeedsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_ListFeedsResponse__Output>): grpc.ClientUnaryCall;
  listFeeds(argument: _fxd_v1_ListFeedsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListFeedsResponse__Output>): grpc.ClientUnaryCall;
  listFeeds(argument: _fxd_v1_ListFeedsRequest, callback: grpc.requestCallback<_fxd_v1_ListFeedsResponse__Output>): grpc.ClientUnaryCall;
  
  ListKeys(argument: _fxd_v1_ListKeysRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListKeysResponse__Output>): grpc.ClientUnaryCall;
  ListKeys(argument: _fxd_v1_ListKeysRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_ListKeysResponse__Output>): grpc.ClientUnaryCall;
  ListKeys(argument: _fxd_v1_ListKeysRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListKeysResponse__Output>): grpc.ClientUnaryCall;
  ListKeys(argument: _fxd_v1_ListKeysRequest, callback: grpc.requestCallback<_fxd_v1_ListKeysResponse__Output>): grpc.ClientUnaryCall;
  listKeys(argument: _fxd_v1_ListKeysRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListKeysResponse__Output>): grpc.ClientUnaryCall;
  listKeys(argument: _fxd_v1_ListKeysRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_ListKeysResponse__Output>): grpc.ClientUnaryCall;
  listKeys(argument: _fxd_v1_ListKeysRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListKeysResponse__Output>): grpc.ClientUnaryCall;
  listKeys(argument: _fxd_v1_ListKeysRequest, callback: grpc.requestCallback<_fxd_v1_ListKeysResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * The keys with most requests on this UTC day. UNAVAILABLE: counters or sockets cannot be read, or not within 30 s.
   */
  ListTopKeys(argument: _fxd_v1_ListTopKeysRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListTopKeysResponse__Output>): grpc.ClientUnaryCall;
  ListTopKeys(argument: _fxd_v1_ListTopKeysRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_ListTopKeysResponse__Output>): grpc.ClientUnaryCall;
  ListTopKeys(argument: _fxd_v1_ListTopKeysRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListTopKeysResponse__Output>): grpc.ClientUnaryCall;
  ListTopKeys(argument: _fxd_v1_ListTopKeysRequest, callback: grpc.requestCallback<_fxd_v1_ListTopKeysResponse__Output>): grpc.ClientUnaryCall;
  /**
   * The keys with most requests on this UTC day. UNAVAILABLE: counters or sockets cannot be read, or not within 30 s.
   */
  listTopKeys(argument: _fxd_v1_ListTopKeysRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListTopKeysResponse__Output>): grpc.ClientUnaryCall;
  listTopKeys(argument: _fxd_v1_ListTopKeysRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_ListTopKeysResponse__Output>): grpc.ClientUnaryCall;
  listTopKeys(argument: _fxd_v1_ListTopKeysRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_ListTopKeysResponse__Output>): grpc.ClientUnaryCall;
  listTopKeys(argument: _fxd_v1_ListTopKeysRequest, callback: grpc.requestCallback<_fxd_v1_ListTopKeysResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Removes the bars, windows and liveness of a feed that no manifest names. UNAVAILABLE: the feed is
   * not purged, or only partly. The message says why: for example, a session at another ingest did not end within 5 s.
   * Idempotent.
   */
  PurgeFeed(argument: _fxd_v1_PurgeFeedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_PurgeFeedResponse__Output>): grpc.ClientUnaryCall;
  PurgeFeed(argument: _fxd_v1_PurgeFeedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_PurgeFeedResponse__Output>): grpc.ClientUnaryCall;
  PurgeFeed(argument: _fxd_v1_PurgeFeedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_PurgeFeedResponse__Output>): grpc.ClientUnaryCall;
  PurgeFeed(argument: _fxd_v1_PurgeFeedRequest, callback: grpc.requestCallback<_fxd_v1_PurgeFeedResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Removes the bars, windows and liveness of a feed that no manifest names. UNAVAILABLE: the feed is
   * not purged, or only partly. The message says why: for example, a session at another ingest did not end within 5 s.
   * Idempotent.
   */
  purgeFeed(argument: _fxd_v1_PurgeFeedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_PurgeFeedResponse__Output>): grpc.ClientUnaryCall;
  purgeFeed(argument: _fxd_v1_PurgeFeedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_PurgeFeedResponse__Output>): grpc.ClientUnaryCall;
  purgeFeed(argument: _fxd_v1_PurgeFeedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_PurgeFeedResponse__Output>): grpc.ClientUnaryCall;
  purgeFeed(argument: _fxd_v1_PurgeFeedRequest, callback: grpc.requestCallback<_fxd_v1_PurgeFeedResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Creates or changes a key whose secret the caller has, such as the operator for an ApiKey object. Idempotent.
   * ABORTED: the issue is lower than the stored one, or equal with another digest; or the record is newer than
   * based_on. ALREADY_EXISTS: another key that is not revoked has the digest.
   * FAILED_PRECONDITION: the key is revoked, or has another owner; or 4 old secrets are still valid and a higher
   * issue would add a fifth.
   */
  PutKey(argument: _fxd_v1_PutKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  PutKey(argument: _fxd_v1_PutKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  PutKey(argument: _fxd_v1_PutKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  PutKey(argument: _fxd_v1_PutKeyRequest, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  /**
   * Creates or changes a key whose secret the caller has, such as the operator for an ApiKey object. Idempotent.
   * ABORTED: the issue is lower than the stored one, or equal with another digest; or the record is newer than
   * based_on. ALREADY_EXISTS: another key that is not revoked has the digest.
   * FAILED_PRECONDITION: the key is revoked, or has another owner; or 4 old secrets are still valid and a higher
   * issue would add a fifth.
   */
  putKey(argument: _fxd_v1_PutKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  putKey(argument: _fxd_v1_PutKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  putKey(argument: _fxd_v1_PutKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  putKey(argument: _fxd_v1_PutKeyRequest, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  
  /**
   * Uses a table of the store as it is, or makes it again when it is missing. Windows of its bars are withdrawn, so that
   * collectors send the bars again. Idempotent. FAILED_PRECONDITION: the table is the registry, or a table that is
   * needed for it is itself missing, or the store has no tables of its own.
   */
  RefillTable(argument: _fxd_v1_RefillTableRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RefillTableResponse__Output>): grpc.ClientUnaryCall;
  RefillTable(argument: _fxd_v1_RefillTableRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_RefillTableResponse__Output>): grpc.ClientUnaryCall;
  RefillTable(argument: _fxd_v1_RefillTableRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RefillTableResponse__Output>): grpc.ClientUnaryCall;
  RefillTable(argument: _fxd_v1_RefillTableRequest, callback: grpc.requestCallback<_fxd_v1_RefillTableResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Uses a table of the store as it is, or makes it again when it is missing. Windows of its bars are withdrawn, so that
   * collectors send the bars again. Idempotent. FAILED_PRECONDITION: the table is the registry, or a table that is
   * needed for it is itself missing, or the store has no tables of its own.
   */
  refillTable(argument: _fxd_v1_RefillTableRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RefillTableResponse__Output>): grpc.ClientUnaryCall;
  refillTable(argument: _fxd_v1_RefillTableRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_RefillTableResponse__Output>): grpc.ClientUnaryCall;
  refillTable(argument: _fxd_v1_RefillTableRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RefillTableResponse__Output>): grpc.ClientUnaryCall;
  refillTable(argument: _fxd_v1_RefillTableRequest, callback: grpc.requestCallback<_fxd_v1_RefillTableResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Hides a feed of this owner; its bars stay. Does nothing for an unknown feed or another owner.
   */
  RemoveFeed(argument: _fxd_v1_RemoveFeedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RemoveFeedResponse__Output>): grpc.ClientUnaryCall;
  RemoveFeed(argument: _fxd_v1_RemoveFeedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_RemoveFeedResponse__Output>): grpc.ClientUnaryCall;
  RemoveFeed(argument: _fxd_v1_RemoveFeedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RemoveFeedResponse__Output>): grpc.ClientUnaryCall;
  RemoveFeed(argument: _fxd_v1_RemoveFeedRequest, callback: grpc.requestCallback<_fxd_v1_RemoveFeedResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Hides a feed of this owner; its bars stay. Does nothing for an unknown feed or another owner.
   */
  removeFeed(argument: _fxd_v1_RemoveFeedRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RemoveFeedResponse__Output>): grpc.ClientUnaryCall;
  removeFeed(argument: _fxd_v1_RemoveFeedRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_RemoveFeedResponse__Output>): grpc.ClientUnaryCall;
  removeFeed(argument: _fxd_v1_RemoveFeedRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RemoveFeedResponse__Output>): grpc.ClientUnaryCall;
  removeFeed(argument: _fxd_v1_RemoveFeedRequest, callback: grpc.requestCallback<_fxd_v1_RemoveFeedResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Removes a symbol that only an import added from the catalogue. Its bars and windows stay stored but are not
   * served until a later import or a collector lists the name. Frees hidden names without bars. FAILED_PRECONDITION: a
   * manifest or the feed's collector lists the symbol, or it is hidden and has bars.
   */
  RemoveSymbol(argument: _fxd_v1_RemoveSymbolRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RemoveSymbolResponse__Output>): grpc.ClientUnaryCall;
  RemoveSymbol(argument: _fxd_v1_RemoveSymbolRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_RemoveSymbolResponse__Output>): grpc.ClientUnaryCall;
  RemoveSymbol(argument: _fxd_v1_RemoveSymbolRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RemoveSymbolResponse__Output>): grpc.ClientUnaryCall;
  RemoveSymbol(argument: _fxd_v1_RemoveSymbolRequest, callback: grpc.requestCallback<_fxd_v1_RemoveSymbolResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Removes a symbol that only an import added from the catalogue. Its bars and windows stay stored but are not
   * served until a later import or a collector lists the name. Frees hidden names without bars. FAILED_PRECONDITION: a
   * manifest or the feed's collector lists the symbol, or it is hidden and has bars.
   */
  removeSymbol(argument: _fxd_v1_RemoveSymbolRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RemoveSymbolResponse__Output>): grpc.ClientUnaryCall;
  removeSymbol(argument: _fxd_v1_RemoveSymbolRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_RemoveSymbolResponse__Output>): grpc.ClientUnaryCall;
  removeSymbol(argument: _fxd_v1_RemoveSymbolRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_RemoveSymbolResponse__Output>): grpc.ClientUnaryCall;
  removeSymbol(argument: _fxd_v1_RemoveSymbolRequest, callback: grpc.requestCallback<_fxd_v1_RemoveSymbolResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Revokes a key. This is final.
   */
  RevokeKey(argument: _fxd_v1_RevokeKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  RevokeKey(argument: _fxd_v1_RevokeKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  RevokeKey(argument: _fxd_v1_RevokeKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  RevokeKey(argument: _fxd_v1_RevokeKeyRequest, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  /**
   * Revokes a key. This is final.
   */
  revokeKey(argument: _fxd_v1_RevokeKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  revokeKey(argument: _fxd_v1_RevokeKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  revokeKey(argument: _fxd_v1_RevokeKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  revokeKey(argument: _fxd_v1_RevokeKeyRequest, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  
  /**
   * Replaces the secret of a key. Only this answer contains the new secret.
   */
  RotateKey(argument: _fxd_v1_RotateKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  RotateKey(argument: _fxd_v1_RotateKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  RotateKey(argument: _fxd_v1_RotateKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  RotateKey(argument: _fxd_v1_RotateKeyRequest, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  /**
   * Replaces the secret of a key. Only this answer contains the new secret.
   */
  rotateKey(argument: _fxd_v1_RotateKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  rotateKey(argument: _fxd_v1_RotateKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  rotateKey(argument: _fxd_v1_RotateKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  rotateKey(argument: _fxd_v1_RotateKeyRequest, callback: grpc.requestCallback<_fxd_v1_IssuedKey__Output>): grpc.ClientUnaryCall;
  
  /**
   * Changes the owner of all feeds: from manifests to the operator, or back. After a change to the operator, each
   * object becomes the owner of its feed by ApplyFeed.
   */
  SetFeedsOwner(argument: _fxd_v1_SetFeedsOwnerRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_SetFeedsOwnerResponse__Output>): grpc.ClientUnaryCall;
  SetFeedsOwner(argument: _fxd_v1_SetFeedsOwnerRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_SetFeedsOwnerResponse__Output>): grpc.ClientUnaryCall;
  SetFeedsOwner(argument: _fxd_v1_SetFeedsOwnerRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_SetFeedsOwnerResponse__Output>): grpc.ClientUnaryCall;
  SetFeedsOwner(argument: _fxd_v1_SetFeedsOwnerRequest, callback: grpc.requestCallback<_fxd_v1_SetFeedsOwnerResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Changes the owner of all feeds: from manifests to the operator, or back. After a change to the operator, each
   * object becomes the owner of its feed by ApplyFeed.
   */
  setFeedsOwner(argument: _fxd_v1_SetFeedsOwnerRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_SetFeedsOwnerResponse__Output>): grpc.ClientUnaryCall;
  setFeedsOwner(argument: _fxd_v1_SetFeedsOwnerRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_SetFeedsOwnerResponse__Output>): grpc.ClientUnaryCall;
  setFeedsOwner(argument: _fxd_v1_SetFeedsOwnerRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_SetFeedsOwnerResponse__Output>): grpc.ClientUnaryCall;
  setFeedsOwner(argument: _fxd_v1_SetFeedsOwnerRequest, callback: grpc.requestCallback<_fxd_v1_SetFeedsOwnerResponse__Output>): grpc.ClientUnaryCall;
  
  /**
   * Makes a key of this owner inactive until the next PutKey. Does nothing for an unknown key or another owner.
   */
  SuspendKey(argument: _fxd_v1_SuspendKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_SuspendKeyResponse__Output>): grpc.ClientUnaryCall;
  SuspendKey(argument: _fxd_v1_SuspendKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_SuspendKeyResponse__Output>): grpc.ClientUnaryCall;
  SuspendKey(argument: _fxd_v1_SuspendKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_SuspendKeyResponse__Output>): grpc.ClientUnaryCall;
  SuspendKey(argument: _fxd_v1_SuspendKeyRequest, callback: grpc.requestCallback<_fxd_v1_SuspendKeyResponse__Output>): grpc.ClientUnaryCall;
  /**
   * Makes a key of this owner inactive until the next PutKey. Does nothing for an unknown key or another owner.
   */
  suspendKey(argument: _fxd_v1_SuspendKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_SuspendKeyResponse__Output>): grpc.ClientUnaryCall;
  suspendKey(argument: _fxd_v1_SuspendKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_SuspendKeyResponse__Output>): grpc.ClientUnaryCall;
  suspendKey(argument: _fxd_v1_SuspendKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_SuspendKeyResponse__Output>): grpc.ClientUnaryCall;
  suspendKey(argument: _fxd_v1_SuspendKeyRequest, callback: grpc.requestCallback<_fxd_v1_SuspendKeyResponse__Output>): grpc.ClientUnaryCall;
  
  UpdateKey(argument: _fxd_v1_UpdateKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  UpdateKey(argument: _fxd_v1_UpdateKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  UpdateKey(argument: _fxd_v1_UpdateKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  UpdateKey(argument: _fxd_v1_UpdateKeyRequest, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  updateKey(argument: _fxd_v1_UpdateKeyRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  updateKey(argument: _fxd_v1_UpdateKeyRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  updateKey(argument: _fxd_v1_UpdateKeyRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  updateKey(argument: _fxd_v1_UpdateKeyRequest, callback: grpc.requestCallback<_fxd_v1_Key__Output>): grpc.ClientUnaryCall;
  
}

/**
 * The only administration API, for the command line and the operator.
 * Requires `authorization: Bearer <token>` metadata with the administration token, or a client certificate with
 * the URI fxd://admin. Every error has a message. Common statuses:
 * - UNAUTHENTICATED: a missing or invalid credential.
 * - PERMISSION_DENIED: the credential of a collector.
 * - INVALID_ARGUMENT: invalid input.
 * - NOT_FOUND: unknown key or feed.
 * - FAILED_PRECONDITION: the state of the key or feed forbids the change.
 * - ABORTED: the change is based on an outdated version; read again, then retry once. Version 0 means any version.
 */
export interface RegistryHandlers extends grpc.UntypedServiceImplementation {
  /**
   * Uses tables of the store as they are, after they were copied or restored. Sessions of their feeds end and start
   * again. FAILED_PRECONDITION: a named table is missing, or the store has no tables of its own.
   */
  AcceptTables: grpc.handleUnaryCall<_fxd_v1_AcceptTablesRequest__Output, _fxd_v1_AcceptTablesResponse>;
  
  /**
   * Accepts the next terminal of the feed, whatever its account. The collector's session ends within 5 s and begins again.
   * Idempotent.
   * FAILED_PRECONDITION: the source of the feed is not Terminal.
   */
  AcceptTerminal: grpc.handleUnaryCall<_fxd_v1_AcceptTerminalRequest__Output, _fxd_v1_AcceptTerminalResponse>;
  
  /**
   * Creates or changes one feed. Idempotent. INVALID_ARGUMENT: the manifest is invalid; each fault is a line of
   * the message. FAILED_PRECONDITION: manifests or another object own the feed.
   */
  ApplyFeed: grpc.handleUnaryCall<_fxd_v1_ApplyFeedRequest__Output, _fxd_v1_Feed>;
  
  /**
   * Withdraws the windows of a time range, and ends the active session of the feed. Its collector connects again, learns
   * from Known what is missing, and sends the bars of the range again as far as its source has them. Bars stay stored;
   * those that differ are replaced. Idempotent. FAILED_PRECONDITION: the feed is hidden, its clock is unknown, or its
   * collector reads nothing in this range.
   */
  Backfill: grpc.handleUnaryCall<_fxd_v1_BackfillRequest__Output, _fxd_v1_BackfillResponse>;
  
  /**
   * Accepts the store that ingest refuses, because it is empty or another one, as a new beginning. Ingest
   * answers this call while it refuses the store. FAILED_PRECONDITION: the store is not refused.
   */
  BeginStore: grpc.handleUnaryCall<_fxd_v1_BeginStoreRequest__Output, _fxd_v1_BeginStoreResponse>;
  
  /**
   * Only this answer contains the key itself.
   */
  CreateKey: grpc.handleUnaryCall<_fxd_v1_CreateKeyRequest__Output, _fxd_v1_IssuedKey>;
  
  /**
   * The offsets of a feed's clock from UTC.
   */
  GetClock: grpc.handleUnaryCall<_fxd_v1_GetClockRequest__Output, _fxd_v1_ClockHistory>;
  
  GetFeed: grpc.handleUnaryCall<_fxd_v1_GetFeedRequest__Output, _fxd_v1_Feed>;
  
  /**
   * Whether the store and the bus work, as this ingest sees them. It answers while they do not.
   */
  GetHealth: grpc.handleUnaryCall<_fxd_v1_GetHealthRequest__Output, _fxd_v1_Health>;
  
  GetKey: grpc.handleUnaryCall<_fxd_v1_GetKeyRequest__Output, _fxd_v1_Key>;
  
  /**
   * Only this answer contains the token; the token is not stored.
   */
  IssueFeedToken: grpc.handleUnaryCall<_fxd_v1_IssueFeedTokenRequest__Output, _fxd_v1_IssueFeedTokenResponse>;
  
  ListFeeds: grpc.handleUnaryCall<_fxd_v1_ListFeedsRequest__Output, _fxd_v1_ListFeedsResponse>;
  
  ListKeys: grpc.handleUnaryCall<_fxd_v1_ListKeysRequest__Output, _fxd_v1_ListKeysResponse>;
  
  /**
   * The keys with most requests on this UTC day. UNAVAILABLE: counters or sockets cannot be read, or not within 30 s.
   */
  ListTopKeys: grpc.handleUnaryCall<_fxd_v1_ListTopKeysRequest__Output, _fxd_v1_ListTopKeysResponse>;
  
  /**
   * Removes the bars, windows and liveness of a feed that no manifest names. UNAVAILABLE: the feed is
   * not purged, or only partly. The message says why: for example, a session at another ingest did not end within 5 s.
   * Idempotent.
   */
  PurgeFeed: grpc.handleUnaryCall<_fxd_v1_PurgeFeedRequest__Output, _fxd_v1_PurgeFeedResponse>;
  
  /**
   * Creates or changes a key whose secret the caller has, such as the operator for an ApiKey object. Idempotent.
   * ABORTED: the issue is lower than the stored one, or equal with another digest; or the record is newer than
   * based_on. ALREADY_EXISTS: another key that is not revoked has the digest.
   * FAILED_PRECONDITION: the key is revoked, or has another owner; or 4 old secrets are still valid and a higher
   * issue would add a fifth.
   */
  PutKey: grpc.handleUnaryCall<_fxd_v1_PutKeyRequest__Output, _fxd_v1_Key>;
  
  /**
   * Uses a table of the store as it is, or makes it again when it is missing. Windows of its bars are withdrawn, so that
   * collectors send the bars again. Idempotent. FAILED_PRECONDITION: the table is the registry, or a table that is
   * needed for it is itself missing, or the store has no tables of its own.
   */
  RefillTable: grpc.handleUnaryCall<_fxd_v1_RefillTableRequest__Output, _fxd_v1_RefillTableResponse>;
  
  /**
   * Hides a feed of this owner; its bars stay. Does nothing for an unknown feed or another owner.
   */
  RemoveFeed: grpc.handleUnaryCall<_fxd_v1_RemoveFeedRequest__Output, _fxd_v1_RemoveFeedResponse>;
  
  /**
   * Removes a symbol that only an import added from the catalogue. Its bars and windows stay stored but are not
   * served until a later import or a collector lists the name. Frees hidden names without bars. FAILED_PRECONDITION: a
   * manifest or the feed's collector lists the symbol, or it is hidden and has bars.
   */
  RemoveSymbol: grpc.handleUnaryCall<_fxd_v1_RemoveSymbolRequest__Output, _fxd_v1_RemoveSymbolResponse>;
  
  /**
   * Revokes a key. This is final.
   */
  RevokeKey: grpc.handleUnaryCall<_fxd_v1_RevokeKeyRequest__Output, _fxd_v1_Key>;
  
  /**
   * Replaces the secret of a key. Only this answer contains the new secret.
   */
  RotateKey: grpc.handleUnaryCall<_fxd_v1_RotateKeyRequest__Output, _fxd_v1_IssuedKey>;
  
  /**
   * Changes the owner of all feeds: from manifests to the operator, or back. After a change to the operator, each
   * object becomes the owner of its feed by ApplyFeed.
   */
  SetFeedsOwner: grpc.handleUnaryCall<_fxd_v1_SetFeedsOwnerRequest__Output, _fxd_v1_SetFeedsOwnerResponse>;
  
  /**
   * Makes a key of this owner inactive until the next PutKey. Does nothing for an unknown key or another owner.
   */
  SuspendKey: grpc.handleUnaryCall<_fxd_v1_SuspendKeyRequest__Output, _fxd_v1_SuspendKeyResponse>;
  
  UpdateKey: grpc.handleUnaryCall<_fxd_v1_UpdateKeyRequest__Output, _fxd_v1_Key>;
  
}

export interface RegistryDefinition extends grpc.ServiceDefinition {
  AcceptTables: MethodDefinition<_fxd_v1_AcceptTablesRequest, _fxd_v1_AcceptTablesResponse, _fxd_v1_AcceptTablesRequest__Output, _fxd_v1_AcceptTablesResponse__Output>
  AcceptTerminal: MethodDefinition<_fxd_v1_AcceptTerminalRequest, _fxd_v1_AcceptTerminalResponse, _fxd_v1_AcceptTerminalRequest__Output, _fxd_v1_AcceptTerminalResponse__Output>
  ApplyFeed: MethodDefinition<_fxd_v1_ApplyFeedRequest, _fxd_v1_Feed, _fxd_v1_ApplyFeedRequest__Output, _fxd_v1_Feed__Output>
  Backfill: MethodDefinition<_fxd_v1_BackfillRequest, _fxd_v1_BackfillResponse, _fxd_v1_BackfillRequest__Output, _fxd_v1_BackfillResponse__Output>
  BeginStore: MethodDefinition<_fxd_v1_BeginStoreRequest, _fxd_v1_BeginStoreResponse, _fxd_v1_BeginStoreRequest__Output, _fxd_v1_BeginStoreResponse__Output>
  CreateKey: MethodDefinition<_fxd_v1_CreateKeyRequest, _fxd_v1_IssuedKey, _fxd_v1_CreateKeyRequest__Output, _fxd_v1_IssuedKey__Output>
  GetClock: MethodDefinition<_fxd_v1_GetClockRequest, _fxd_v1_ClockHistory, _fxd_v1_GetClockRequest__Output, _fxd_v1_ClockHistory__Output>
  GetFeed: MethodDefinition<_fxd_v1_GetFeedRequest, _fxd_v1_Feed, _fxd_v1_GetFeedRequest__Output, _fxd_v1_Feed__Output>
  GetHealth: MethodDefinition<_fxd_v1_GetHealthRequest, _fxd_v1_Health, _fxd_v1_GetHealthRequest__Output, _fxd_v1_Health__Output>
  GetKey: MethodDefinition<_fxd_v1_GetKeyRequest, _fxd_v1_Key, _fxd_v1_GetKeyRequest__Output, _fxd_v1_Key__Output>
  IssueFeedToken: MethodDefinition<_fxd_v1_IssueFeedTokenRequest, _fxd_v1_IssueFeedTokenResponse, _fxd_v1_IssueFeedTokenRequest__Output, _fxd_v1_IssueFeedTokenResponse__Output>
  ListFeeds: MethodDefinition<_fxd_v1_ListFeedsRequest, _fxd_v1_ListFeedsResponse, _fxd_v1_ListFeedsRequest__Output, _fxd_v1_ListFeedsResponse__Output>
  ListKeys: MethodDefinition<_fxd_v1_ListKeysRequest, _fxd_v1_ListKeysResponse, _fxd_v1_ListKeysRequest__Output, _fxd_v1_ListKeysResponse__Output>
  ListTopKeys: MethodDefinition<_fxd_v1_ListTopKeysRequest, _fxd_v1_ListTopKeysResponse, _fxd_v1_ListTopKeysRequest__Output, _fxd_v1_ListTopKeysResponse__Output>
  PurgeFeed: MethodDefinition<_fxd_v1_PurgeFeedRequest, _fxd_v1_PurgeFeedResponse, _fxd_v1_PurgeFeedRequest__Output, _fxd_v1_PurgeFeedResponse__Output>
  PutKey: MethodDefinition<_fxd_v1_PutKeyRequest, _fxd_v1_Key, _fxd_v1_PutKeyRequest__Output, _fxd_v1_Key__Output>
  RefillTable: MethodDefinition<_fxd_v1_RefillTableRequest, _fxd_v1_RefillTableResponse, _fxd_v1_RefillTableRequest__Output, _fxd_v1_RefillTableResponse__Output>
  RemoveFeed: MethodDefinition<_fxd_v1_RemoveFeedRequest, _fxd_v1_RemoveFeedResponse, _fxd_v1_RemoveFeedRequest__Output, _fxd_v1_RemoveFeedResponse__Output>
  RemoveSymbol: MethodDefinition<_fxd_v1_RemoveSymbolRequest, _fxd_v1_RemoveSymbolResponse, _fxd_v1_RemoveSymbolRequest__Output, _fxd_v1_RemoveSymbolResponse__Output>
  RevokeKey: MethodDefinition<_fxd_v1_RevokeKeyRequest, _fxd_v1_Key, _fxd_v1_RevokeKeyRequest__Output, _fxd_v1_Key__Output>
  RotateKey: MethodDefinition<_fxd_v1_RotateKeyRequest, _fxd_v1_IssuedKey, _fxd_v1_RotateKeyRequest__Output, _fxd_v1_IssuedKey__Output>
  SetFeedsOwner: MethodDefinition<_fxd_v1_SetFeedsOwnerRequest, _fxd_v1_SetFeedsOwnerResponse, _fxd_v1_SetFeedsOwnerRequest__Output, _fxd_v1_SetFeedsOwnerResponse__Output>
  SuspendKey: MethodDefinition<_fxd_v1_SuspendKeyRequest, _fxd_v1_SuspendKeyResponse, _fxd_v1_SuspendKeyRequest__Output, _fxd_v1_SuspendKeyResponse__Output>
  UpdateKey: MethodDefinition<_fxd_v1_UpdateKeyRequest, _fxd_v1_Key, _fxd_v1_UpdateKeyRequest__Output, _fxd_v1_Key__Output>
}
