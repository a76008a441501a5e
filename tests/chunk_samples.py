"""One small program a language for the cutter's tests: source, definitions, the breadcrumbs of its pieces.

A line `@@` stands for forty lines of `filler`, so that each member is large enough to become a piece.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """`definitions` are `kind scope/name` in order; `breadcrumbs` those of the pieces with the fillers in."""

    language: str
    filler: str
    source: str
    definitions: str
    breadcrumbs: str

    @property
    def short(self) -> bytes:
        """The program without fillers."""
        return "".join(line for line in self.source.splitlines(True) if line.strip() != "@@").encode()

    @property
    def long(self) -> bytes:
        """The program with fillers."""
        lines: list[str] = []
        for line in self.source.splitlines(True):
            if line.strip() == "@@":
                lines += [
                    line.replace(
                        "@@", f"{self.filler} {n:03}" if "{}" not in self.filler else self.filler.format(n)
                    )
                    for n in range(40)
                ]
            else:
                lines.append(line)
        return "".join(lines).encode()


SAMPLES = [
    Sample(
        "rust",
        "let value = next(value);",
        """use std::fmt;

/// How many attempts are made.
pub const LIMIT: usize = 3;

/// Keeps what was tried.
#[derive(Debug)]
pub struct Ledger<T> {
    entries: Vec<T>,
}

impl<T: Clone> Ledger<T> {
    /// Adds an entry.
    #[inline]
    pub fn push(&mut self, value: T) {
        @@
    }

    /// Takes the oldest.
    pub async fn shift(&mut self) -> Option<T> {
        @@
    }
}

impl<T> fmt::Display for Ledger<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        @@
    }
}

pub trait Clock {
    fn now(&self) -> u64;
}

macro_rules! double {
    ($x:expr) => { $x * 2 };
}

mod inner {
    pub enum Mode { Fast, Slow }

    fn helper() {
        @@
    }
}
""",
        """constant LIMIT
struct Ledger
field Ledger/entries
impl Ledger
method Ledger/push
method Ledger/shift
impl Ledger
method Ledger/fmt
trait Clock
prototype Clock/now
macro double
module inner
enum inner/Mode
field inner.Mode/Fast
field inner.Mode/Slow
function inner/helper""",
        """impl: impl Ledger
method: impl Ledger > fn shift
impl: impl fmt::Display for Ledger
function: mod inner > fn helper""",
    ),
    Sample(
        "go",
        "value = next(value) //",
        """// Package ledger keeps entries.
package ledger

import "errors"

// ErrFull says that nothing fits.
var ErrFull = errors.New("full")

const (
	small = 1
	large = 2
)

// Ledger keeps entries.
type Ledger struct {
	entries, spare []string
}

type Clock interface {
	Now() int64
}

type (
	Name string
	Pair struct{ left, right int }
)

// Push adds an entry.
func (l *Ledger) Push(value string) error {
	@@
	return nil
}

// Open reads a ledger.
func Open(path string) (*Ledger, error) {
	@@
	return nil, nil
}
""",
        """variable ErrFull
constant small
constant large
struct Ledger
field Ledger/entries
field Ledger/spare
interface Clock
prototype Clock/Now
type Name
struct Pair
field Pair/left
field Pair/right
method Ledger/Push
function Open""",
        """method: func Ledger.Push
function: func Open""",
    ),
    Sample(
        "typescript",
        "value = next(value); //",
        """import { next } from "./next";

/** Options of a client. */
export interface Options {
  retries: number;
  onError?(reason: Error): void;
}

export type Handler = (request: string) => void;

export enum Mode { Fast, Slow }

export const LIMIT = 3;

/** Sends once. */
export const sendOnce = async (text: string) => {
  @@
};

/** A client. */
@injectable()
export abstract class Client<T> {
  private queue: T[] = [];

  onClose = () => {
    @@
  };

  /** Sends again and again. */
  @logged()
  async send(text: string): Promise<void> {
    @@
  }

  abstract close(): void;
}

export function open(path: string): void;
export function open(path: string, mode?: Mode): void {
  @@
}

export namespace Wire {
  export function encode() {}
}
""",
        """interface Options
field Options/retries
prototype Options/onError
type Handler
enum Mode
constant LIMIT
function sendOnce
class Client
field Client/queue
method Client/onClose
method Client/send
prototype Client/close
prototype open
function open
module Wire
function Wire/encode""",
        """function: const sendOnce
class: class Client
method: class Client > send
function: function open""",
    ),
    Sample(
        "tsx",
        "value = next(value); //",
        """import React from "react";

type Props = { name: string };

/** Says hello. */
export default function Hello({ name }: Props) {
  @@
  return <p className="hello">Hello, {name}</p>;
}

export const List: React.FC<Props> = ({ name }) => {
  @@
  return <ul><li>{name}</li></ul>;
};
""",
        """type Props
field Props/name
function Hello
function List""",
        """function: function Hello
function: const List""",
    ),
    Sample(
        "javascript",
        "value = next(value); //",
        """"use strict";
const fs = require("fs");

/**
 * Reads everything.
 */
function readAll(path) {
  @@
}

class Store extends Base {
  static limit = 3;
  #items = [];

  // Adds an item.
  add(item) {
    @@
  }

  get size() { return 1; }
}

Store.prototype.clear = function () {
  @@
};

module.exports = { readAll, parse: (text) => text };
exports.open = function open() {};
""",
        """variable fs
function readAll
class Store
field Store/limit
field Store/#items
method Store/add
method Store/size
function Store/clear
function parse
function open""",
        """function: function readAll
class: class Store
function: Store.prototype.clear""",
    ),
    Sample(
        "python",
        "value = following(value)  #",
        '''"""Keeps entries."""

import os

LIMIT = 3
_cache: dict = {}


@dataclass(frozen=True)
class Ledger(Base):
    """A ledger."""

    SIZE = 10
    name: str = ""

    @property
    def total(self) -> int:
        """The sum of all."""
        @@
        return value

    # Adds one.
    async def push(self, entry):
        def inner():
            pass
        @@


# Opens a ledger.
@cached
def open_ledger(path):
    @@
''',
        """class Ledger
method Ledger/total
method Ledger/push
function Ledger.push/inner
function open_ledger""",
        """class: class Ledger
method: class Ledger > def push
function: def open_ledger""",
    ),
    Sample(
        "java",
        "value = next(value); //",
        """package org.example.ledger;

import java.util.List;

/**
 * Keeps entries.
 */
@Entity
public final class Ledger<T> extends Base {
    private static final int LIMIT = 3;

    /** Makes one. */
    public Ledger(List<T> entries) {
        @@
    }

    /**
     * Adds an entry.
     */
    @Override
    public void push(T entry) {
        @@
    }

    enum Mode { FAST, SLOW }
}

interface Clock {
    long now();
}

record Pair(int left, int right) {
}
""",
        """class Ledger
field Ledger/LIMIT
method Ledger/Ledger
method Ledger/push
enum Ledger/Mode
constant Ledger.Mode/FAST
constant Ledger.Mode/SLOW
interface Clock
prototype Clock/now
class Pair""",
        """class: class Ledger
method: class Ledger > push""",
    ),
    Sample(
        "c",
        "value = next(value); //",
        """#include <stdio.h>

#define LIMIT 3
#define SQUARE(x) ((x) * (x))

/* An entry. */
struct entry {
    char *name;
    int sizes[4];
};

typedef struct {
    int left;
} pair_t;

typedef unsigned long word_t;

enum mode { FAST, SLOW };

static int count = 0;

int ledger_open(const char *path);

/* Adds an entry. */
static char *
ledger_push(struct entry *e)
{
    @@
    return e->name;
}

int main(int argc, char **argv)
{
    @@
    return 0;
}
""",
        """constant LIMIT
macro SQUARE
struct entry
field entry/name
field entry/sizes
struct pair_t
field pair_t/left
type word_t
enum mode
constant mode/FAST
constant mode/SLOW
variable count
prototype ledger_open
function ledger_push
function main""",
        """function: ledger_push
function: main""",
    ),
    Sample(
        "cpp",
        "value = next(value); //",
        """#include <vector>

namespace store {

/// Keeps entries.
template <typename T>
class Ledger : public Base {
 public:
  explicit Ledger(int size);
  ~Ledger() = default;

  /// Adds an entry.
  void push(const T& value) {
    @@
  }

  bool operator==(const Ledger& other) const;

 private:
  std::vector<T> entries_;
};

template <typename T>
Ledger<T>::Ledger(int size) {
  @@
}

enum class Mode { Fast, Slow };

using Name = std::string;

int count(const Name& name);

}  // namespace store

int main() {
  @@
}
""",
        """module store
class store/Ledger
prototype store.Ledger/Ledger
method store.Ledger/~Ledger
method store.Ledger/push
prototype store.Ledger/operator==
field store.Ledger/entries_
method store.Ledger/Ledger
enum store/Mode
constant store.Mode/Fast
constant store.Mode/Slow
type store/Name
prototype store/count
function main""",
        """class: namespace store > class Ledger
method: namespace store > Ledger<T>::Ledger
function: main""",
    ),
    Sample(
        "csharp",
        "value = Next(value); //",
        """using System;

namespace Example.Store
{
    /// <summary>Keeps entries.</summary>
    [Serializable]
    public class Ledger<T> : Base where T : class
    {
        private const int Limit = 3;

        public int Count { get; private set; }

        public event EventHandler Changed;

        public Ledger(int size)
        {
            @@
        }

        /// <summary>Adds an entry.</summary>
        public async Task Push(T entry)
        {
            @@
        }
    }

    public interface IClock
    {
        long Now();
    }

    public enum Mode { Fast, Slow }

    public record Pair(int Left, int Right);
}
""",
        """module Example/Store
class Example.Store/Ledger
field Example.Store.Ledger/Limit
field Example.Store.Ledger/Count
field Example.Store.Ledger/Changed
method Example.Store.Ledger/Ledger
method Example.Store.Ledger/Push
interface Example.Store/IClock
prototype Example.Store.IClock/Now
enum Example.Store/Mode
constant Example.Store.Mode/Fast
constant Example.Store.Mode/Slow
class Example.Store/Pair""",
        """class: namespace Example.Store > class Ledger
method: namespace Example.Store > class Ledger > Push""",
    ),
    Sample(
        "ruby",
        "value = following(value) #",
        """# frozen_string_literal: true

require "set"

module Store
  # Keeps entries.
  class Ledger < Base
    LIMIT = 3
    attr_reader :entries, :size

    # Adds an entry.
    def push(entry)
      @@
    end

    def self.open(path)
      @@
    end

    class << self
      def default; end
    end

    private

    def empty?
      @@
    end
  end

  Pair = Struct.new(:left, :right) do
    def sum = left + right
  end
end
""",
        """module Store
class Store/Ledger
constant Store.Ledger/LIMIT
field Store.Ledger/entries
field Store.Ledger/size
method Store.Ledger/push
method Store.Ledger/open
method Store.Ledger/default
method Store.Ledger/empty?
class Store/Pair
method Store.Pair/sum""",
        """class: module Store > class Ledger
method: module Store > class Ledger > def open
method: module Store > class Ledger > def empty?""",
    ),
    Sample(
        "php",
        "$value = next_of($value); //",
        """<?php

namespace Example\\Store;

use Countable;

/**
 * Keeps entries.
 */
#[Entity]
final class Ledger extends Base implements Countable
{
    public const LIMIT = 3;

    protected array $entries = [];

    /**
     * Adds an entry.
     */
    public function push(string $entry): void
    {
        @@
    }

    abstract protected function close(): void;

    public static function open($path)
    {
        @@
    }
}

interface Clock
{
    public function now(): int;
}

trait Counts {}

enum Mode: string { case Fast = 'f'; }

function helper($value)
{
    @@
}
""",
        """class Ledger
constant Ledger/LIMIT
field Ledger/entries
method Ledger/push
prototype Ledger/close
method Ledger/open
interface Clock
prototype Clock/now
trait Counts
enum Mode
constant Mode/Fast
function helper""",
        """class: class Ledger
method: class Ledger > function open
function: function helper""",
    ),
    Sample(
        "kotlin",
        "value = next(value) //",
        """package org.example.store

import kotlin.math.max

const val LIMIT = 3

/** Keeps entries. */
@Serializable
data class Ledger(val name: String, private var size: Int) : Base() {
    private val entries = mutableListOf<String>()

    /** Adds an entry. */
    suspend fun push(entry: String) {
        @@
    }

    companion object {
        fun open(path: String): Ledger {
            @@
        }
    }
}

interface Clock {
    fun now(): Long
}

enum class Mode { FAST, SLOW }

object Registry

typealias Name = String

fun String.shout(): String {
    @@
}
""",
        """constant LIMIT
class Ledger
field Ledger/name
field Ledger/size
field Ledger/entries
method Ledger/push
method Ledger/open
interface Clock
prototype Clock/now
enum Mode
constant Mode/FAST
constant Mode/SLOW
class Registry
type Name
function shout""",
        """class: class Ledger
method: class Ledger > fun open
function: fun shout""",
    ),
    Sample(
        "swift",
        "value = next(value) //",
        """import Foundation

/// Keeps entries.
public final class Ledger: Base {
    private let entries: [String]

    /// Makes one.
    public init(size: Int) {
        @@
    }

    /// Adds an entry.
    @discardableResult
    func push(_ entry: String) -> Bool {
        @@
    }
}

struct Pair { var left: Int }

enum Mode { case fast, slow }

protocol Clock {
    func now() -> Int
}

extension Ledger: Clock {
    func now() -> Int {
        @@
    }
}

typealias Name = String

let limit = 3

func open(path: String) -> Ledger {
    @@
}
""",
        """class Ledger
field Ledger/entries
method Ledger/init
method Ledger/push
struct Pair
field Pair/left
enum Mode
constant Mode/fast
constant Mode/slow
interface Clock
prototype Clock/now
impl Ledger
method Ledger/now
type Name
variable limit
function open""",
        """class: class Ledger
method: class Ledger > func push
impl: extension Ledger: Clock
function: func open""",
    ),
    Sample(
        "scala",
        "value = next(value) //",
        """package org.example.store

import scala.util.Try

/** Keeps entries. */
@deprecated
case class Ledger[T](name: String) extends Base {
  private val entries = List.empty[T]

  /** Adds an entry. */
  def push(entry: T): Ledger[T] = {
    @@
  }

  type Name = String
}

object Ledger {
  def open(path: String): Ledger[Int] = {
    @@
  }
}

sealed trait Clock {
  def now: Long
}
""",
        """class Ledger
field Ledger/entries
method Ledger/push
type Ledger/Name
class Ledger
method Ledger/open
trait Clock
prototype Clock/now""",
        """class: class Ledger
class: object Ledger""",
    ),
    Sample(
        "lua",
        "value = following(value) --",
        """local M = {}

--- Keeps entries.
local limit = 3

--- Adds an entry.
-- @param entry the entry
function M.push(entry)
  @@
end

function M:size()
  @@
end

local function helper()
  @@
end

M.open = function(path)
  @@
end

local close = function() end

return M
""",
        """variable M
variable limit
function M/push
method M/size
function helper
function M/open
function close""",
        """function: function M.push
method: function M:size
function: function helper
function: M.open""",
    ),
    Sample(
        "elixir",
        "value = following(value) #",
        '''defmodule Example.Ledger do
  @moduledoc """
  Keeps entries.
  """

  @limit 3

  @type t :: %__MODULE__{}

  @callback now() :: integer

  @doc """
  Adds an entry.
  """
  @spec push(t, term) :: t
  def push(ledger, entry) when is_list(entry) do
    @@
  end

  def push(ledger, entry) do
    ledger
  end

  defp helper(value), do: value

  defmacro trace(block) do
    @@
  end
end

defimpl Enumerable, for: Example.Ledger do
  def count(ledger) do
    @@
  end
end

defprotocol Example.Clock do
  def now(clock)
end
''',
        """module Example/Ledger
type Example.Ledger/t
prototype Example.Ledger/now
function Example.Ledger/push
function Example.Ledger/helper
macro Example.Ledger/trace
impl Enumerable
method Enumerable/count
interface Example/Clock
method Example.Clock/now""",
        """function: defmodule Example.Ledger > def push
macro: defmodule Example.Ledger > defmacro trace
impl: defimpl Enumerable, for: Example.Ledger""",
    ),
    Sample(
        "bash",
        "value=$(following $value) #",
        """#!/usr/bin/env bash
# Keeps entries.
set -euo pipefail

LIMIT=3
export LEDGER_HOME="$HOME/.ledger"

# Adds an entry.
push() {
    @@
}

function ledger_open {
    @@
}

push "$@"
""",
        """constant LIMIT
constant LEDGER_HOME
function push
function ledger_open""",
        """function: push
function: function ledger_open""",
    ),
    Sample(
        "haskell",
        "  _ <- following value --",
        """{-# LANGUAGE OverloadedStrings #-}
module Example.Ledger (push) where

import Data.List (sort)

-- | A ledger.
data Ledger a = Ledger { entries :: [a] } | Empty
  deriving (Show)

newtype Name = Name String

type Size = Int

class Clock c where
  now :: c -> Int

instance Clock Name where
  now _ = 1

-- | Adds an entry.
push :: a -> Ledger a -> Ledger a
push x Empty = Ledger [x]
push x (Ledger xs) = Ledger (x : xs)

-- | Runs all.
runAll :: Int -> IO ()
runAll value = do
  @@
  pure ()

runNone :: Int -> IO ()
runNone value = do
  @@
  pure ()
""",
        """type Ledger
constant Ledger/Ledger
field Ledger.Ledger/entries
constant Ledger/Empty
type Name
type Size
class Clock
prototype Clock/now
impl Clock
method Clock/now
function push
function runAll
function runNone""",
        """function: runAll
function: runNone""",
    ),
    Sample(
        "zig",
        "value = next(value); //",
        """const std = @import("std");

/// Keeps entries.
pub const Ledger = struct {
    entries: []u32,

    /// Adds an entry.
    pub fn push(self: *Ledger, entry: u32) !void {
        @@
    }
};

pub const Mode = enum { fast, slow };

pub fn open(path: []const u8) !Ledger {
    @@
}

test "open" {
    @@
}
""",
        """constant std
struct Ledger
field Ledger/entries
method Ledger/push
enum Mode
function open
function open""",
        """struct: const Ledger
function: fn open
function: test "open"
""",
    ),
    Sample(
        "hcl",
        "setting_{} = 3",
        """# Where entries are kept.
resource "aws_s3_bucket" "ledger" {
  bucket = "ledger"
  tags = {
    @@
  }
}

variable "region" {
  description = <<EOT
    @@
  EOT
}

locals {
  limit = 3
}

terraform {
  required_version = ">= 1.0"
}
""",
        """struct aws_s3_bucket.ledger
struct region
struct locals
struct terraform""",
        """struct: resource "aws_s3_bucket" "ledger"
""",
    ),
    Sample(
        "sql",
        "-- filler",
        """-- Keeps entries.
CREATE TABLE ledger.entries (
    id integer PRIMARY KEY,
    name text
);

CREATE VIEW recent AS SELECT * FROM ledger.entries;

CREATE INDEX entries_by_name ON ledger.entries (name);
""",
        """struct ledger/entries
field ledger.entries/id
field ledger.entries/name
struct recent
constant entries_by_name""",
        """struct: table ledger.entries""",
    ),
    Sample(
        "proto",
        "// filler",
        """syntax = "proto3";

package example.ledger;

// An entry.
message Entry {
  string name = 1;
  enum Mode { FAST = 0; SLOW = 1; }
  Mode mode = 2;
}

service Ledger {
  // Adds an entry.
  rpc Push(Entry) returns (Entry);
}
""",
        """struct Entry
field Entry/name
enum Entry/Mode
constant Entry.Mode/FAST
constant Entry.Mode/SLOW
field Entry/mode
interface Ledger
prototype Ledger/Push""",
        """struct: message Entry""",
    ),
    Sample(
        "graphql",
        "# filler",
        '''"""An entry."""
type Entry implements Node {
  name: String!
}

enum Mode { FAST SLOW }

input NewEntry { name: String }

query Entries { entries { name } }
''',
        """type Entry
field Entry/name
enum Mode
type NewEntry
function Entries""",
        """type: type Entry""",
    ),
    Sample(
        "dart",
        "value = next(value); //",
        """/// Keeps entries.
class Ledger extends Base {
  final int size = 3;

  Ledger(this.name);

  /// Adds an entry.
  void push(String entry) {
    @@
  }

  int get total => 1;
}

enum Mode { fast, slow }

void main() {
  @@
}
""",
        """class Ledger
field Ledger/size
method Ledger/Ledger
method Ledger/push
method Ledger/total
enum Mode
constant Mode/fast
constant Mode/slow
function main""",
        """class: class Ledger
function: main""",
    ),
    Sample(
        "objc",
        "value = next(value); //",
        """#import <Foundation/Foundation.h>

@interface Ledger : NSObject
@property (nonatomic) int size;
- (void)push:(NSString *)entry;
@end

@implementation Ledger
// Adds an entry.
- (void)push:(NSString *)entry {
  @@
}
@end

int main(int argc, char **argv) {
  @@
}
""",
        """interface Ledger
field Ledger/size
prototype Ledger/push
class Ledger
method Ledger/push
function main""",
        """class: implementation Ledger
function: main""",
    ),
    Sample(
        "solidity",
        "value = next(value); //",
        """pragma solidity ^0.8.0;

/// Keeps entries.
contract Ledger is Base {
    uint256 public limit;
    event Pushed(address who);
    struct Entry { string name; }

    modifier onlyOwner() { _; }

    /// Adds an entry.
    function push(string memory entry) external {
        @@
    }
}

interface Clock { function now_() external; }
""",
        """class Ledger
field Ledger/limit
type Ledger/Pushed
struct Ledger/Entry
field Ledger.Entry/name
method Ledger/onlyOwner
method Ledger/push
interface Clock
prototype Clock/now_""",
        """class: contract Ledger""",
    ),
    Sample(
        "julia",
        "value = following(value) #",
        '''module Store

const LIMIT = 3

"Keeps entries."
struct Ledger{T} <: Base
    entries::Vector{T}
end

"""
Adds an entry.
"""
function push(ledger::Ledger, entry)
    @@
end

size(ledger) = length(ledger.entries)

macro twice(x) end

end
''',
        """module Store
constant Store/LIMIT
struct Store/Ledger
function Store/push
function Store/size
macro Store/twice""",
        """function: module Store > function push""",
    ),
    Sample(
        "r",
        "value <- following(value) #",
        """# Adds an entry.
push <- function(ledger, entry) {
  @@
}

limit <- 3
""",
        """function push
variable limit""",
        """function: push""",
    ),
    Sample(
        "ocaml",
        "let _ = following value in (* *) ",
        """(** Keeps entries. *)
type ledger = Empty | Full of int

exception Lost of string

module Store = struct
  let limit = 3

  (** Adds an entry. *)
  let push entry ledger =
    @@
    ledger
end

let rec even n = n = 0 || odd (n - 1)
and odd n = even (n - 1)
""",
        """type ledger
type Lost
module Store
constant Store/limit
function Store/push
function even
function odd""",
        """function: module Store > let push""",
    ),
    Sample(
        "clojure",
        "(following value) ;",
        """(ns example.ledger
  (:require [clojure.string :as str]))

(def limit 3)

(defn push
  "Adds an entry."
  [ledger entry]
  @@
  ledger)

(defmacro twice [x] x)

(defprotocol Clock (now [this]))

(defrecord Entry [name])
""",
        """module example/ledger
constant limit
function push
macro twice
interface Clock
class Entry""",
        """function: defn push""",
    ),
    Sample(
        "erlang",
        "following(Value), %",
        """-module(ledger).
-export([push/2]).

-record(entry, {name}).
-define(LIMIT, 3).

%% Adds an entry.
-spec push(term(), list()) -> list().
push(Entry, []) ->
    [Entry];
push(Entry, Ledger) ->
    @@
    Ledger.

size(Ledger) -> length(Ledger).
""",
        """module ledger
struct entry
macro LIMIT
function push
function size""",
        """function: push""",
    ),
    Sample(
        "perl",
        "$value = following($value); #",
        """package Example::Ledger;

use strict;
use constant LIMIT => 3;

# Adds an entry.
sub push_entry {
    @@
}

sub size { return 1 }

1;
""",
        """module Example/Ledger
constant LIMIT
function push_entry
function size""",
        """function: sub push_entry""",
    ),
    Sample(
        "powershell",
        "$value = Get-Next $value #",
        """# Adds an entry.
function Add-Entry {
    @@
}

class Ledger {
    [int]$Size
    [void] Push([string]$entry) { }
}
""",
        """function Add-Entry
class Ledger
field Ledger/Size
method Ledger/Push""",
        """function: function Add-Entry""",
    ),
    Sample(
        "cmake",
        "message(value) #",
        """project(ledger)

# Adds a test.
function(add_ledger_test name)
  @@
endfunction()

add_library(ledger ledger.c)
""",
        """constant ledger
function add_ledger_test
constant ledger""",
        """function: function add_ledger_test""",
    ),
    Sample(
        "make",
        "	echo",
        """CC = gcc

# Builds everything.
all: ledger
	echo done

%.o: %.c
	$(CC) -c $<
""",
        """constant CC
function all
function %.o""",
        """function: all""",
    ),
    Sample(
        "vue",
        "value = next(value); //",
        """<script setup lang="ts">
import { ref } from "vue";

/** Adds an entry. */
function push(entry: string) {
  @@
}

const close = () => {
  @@
};
</script>

<template>
  <button @click="close">Close</button>
</template>

<style scoped>
button { color: red; }
</style>
""",
        """function push
function close""",
        """function: function push
function: const close""",
    ),
]
