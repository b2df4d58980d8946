// SPDX-License-Identifier: Apache-2.0
//! The object store (store.h).
use core::ffi::{c_char, c_int, c_void};
use core::mem::{size_of_val, MaybeUninit};
use core::ptr::{self, NonNull};

use crate::chip::{Chip, Geometry};
use crate::error::{told, Error};
use crate::sys;

/// As `struct nw_store_config`, without a seal; zero is the default. Mount with what was formatted.
#[derive(Clone, Copy, Default, Debug)]
pub struct StoreConfig {
    /// Most objects at a time, 1 to 60; 0: 8.
    pub objects: u8,
    /// Longest name, 1 to 32; 0: 12.
    pub name_bytes: u8,
    /// Index nodes in RAM, 4 to 64; 0: 8.
    pub frames: u8,
    /// Written between two anchors; 0: a 64th of the chip.
    pub anchor_bytes: u32,
}

impl StoreConfig {
    fn raw(self) -> sys::nw_store_config {
        sys::nw_store_config {
            objects: self.objects,
            name_bytes: self.name_bytes,
            frames: self.frames,
            fan: 0,
            checkpoints: 0,
            read_ahead: 0,
            anchor_bytes: self.anchor_bytes,
            seal: ptr::null_mut(),
        }
    }

    /// Words of RAM that a store on such a chip needs; 0: `Error::CONFIG`.
    pub fn ram_words(&self, geometry: &Geometry) -> usize {
        // SAFETY: both are plain structs, and only read.
        unsafe { sys::nw_store_ram_bytes(&self.raw(), geometry) }.div_ceil(8)
    }
}

/// What an object is. Sizes are `unit_bytes` of store.h; 0 for a stream: each element of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Stack,
    Queue,
    /// With `expendable` the oldest chunks give way when there is no room.
    Stream {
        unit_bytes: u16,
        expendable: bool,
    },
    Array {
        unit_bytes: u16,
        count: u32,
    },
    File {
        block_bytes: u16,
    },
}

impl Kind {
    fn raw(self) -> sys::nw_store_spec {
        let (kind, flags, unit_bytes, count) = match self {
            Kind::Stack => (sys::NW_STORE_STACK, 0, 0, 0),
            Kind::Queue => (sys::NW_STORE_QUEUE, 0, 0, 0),
            Kind::Stream {
                unit_bytes,
                expendable,
            } => {
                let flags = if expendable {
                    sys::NW_STORE_EXPENDABLE as u8
                } else {
                    0
                };
                (sys::NW_STORE_STREAM, flags, unit_bytes, 0)
            }
            Kind::Array { unit_bytes, count } => (sys::NW_STORE_ARRAY, 0, unit_bytes, count),
            Kind::File { block_bytes } => (sys::NW_STORE_FILE, 0, block_bytes, 0),
        };
        sys::nw_store_spec {
            r#type: kind as u8,
            flags,
            unit_bytes,
            count,
        }
    }
}

/// An object of a store, until it is deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Object(c_int);

/// A place in a stream.
#[derive(Clone, Copy)]
pub struct Cursor(sys::nw_store_cursor);

/// A store on a chip. What was written is durable after `sync()`.
pub struct Store<'a> {
    raw: NonNull<sys::nw_store>,
    _on: core::marker::PhantomData<(Chip<'a>, &'a mut [u64])>,
}

type Open = unsafe extern "C" fn(
    *mut *mut sys::nw_store,
    *mut sys::nw_chip,
    *const sys::nw_store_config,
    *mut c_void,
    usize,
) -> c_int;

/// A name as C wants it.
struct Name([c_char; 33]);

impl Name {
    fn new(name: &str) -> Result<Self, Error> {
        let mut text = [0; 33];
        if name.is_empty() || name.len() > 32 || name.contains('\0') {
            return Err(Error::NAME);
        }
        for (to, from) in text.iter_mut().zip(name.bytes()) {
            *to = from as c_char;
        }
        Ok(Name(text))
    }
}

fn length(bytes: usize) -> Result<u16, Error> {
    u16::try_from(bytes).map_err(|_| Error::RANGE)
}

impl<'a> Store<'a> {
    /// Makes the chip an empty store. Erases everything.
    pub fn format(chip: Chip<'a>, config: &StoreConfig, ram: &'a mut [u64]) -> Result<Self, Error> {
        Self::open(sys::nw_store_format, chip, config, ram)
    }

    /// The store as the last sync left it, or later. `Error::BLANK`: nothing is on the chip.
    pub fn mount(chip: Chip<'a>, config: &StoreConfig, ram: &'a mut [u64]) -> Result<Self, Error> {
        Self::open(sys::nw_store_mount, chip, config, ram)
    }

    /// The same without a program or an erase: what writes is `Error::UNSUPPORTED`.
    pub fn mount_read_only(
        chip: Chip<'a>,
        config: &StoreConfig,
        ram: &'a mut [u64],
    ) -> Result<Self, Error> {
        Self::open(sys::nw_store_mount_read_only, chip, config, ram)
    }

    fn open(
        open: Open,
        chip: Chip<'a>,
        config: &StoreConfig,
        ram: &'a mut [u64],
    ) -> Result<Self, Error> {
        let mut raw = ptr::null_mut();
        let bytes = size_of_val(ram);
        // SAFETY: chip and RAM are borrowed for 'a and nobody else's; the RAM is aligned for u64,
        // the widest type the store keeps. The configuration is copied.
        told(unsafe {
            open(
                &mut raw,
                chip.raw,
                &config.raw(),
                ram.as_mut_ptr().cast(),
                bytes,
            )
        })?;
        let raw = NonNull::new(raw).ok_or(Error::CONFIG)?;
        Ok(Store {
            raw,
            _on: core::marker::PhantomData,
        })
    }

    /// The store itself, for calls of `sys` that have no safe form here.
    pub fn as_raw(&mut self) -> *mut sys::nw_store {
        self.raw.as_ptr()
    }

    /// Makes durable what was written.
    pub fn sync(&mut self) -> Result<(), Error> {
        // SAFETY: here and below: the store is open, and buffers have the length told.
        told(unsafe { sys::nw_store_sync(self.as_raw()) }).map(|_| ())
    }

    /// Up to `budget` pieces of work ahead of its time; answers how many were done.
    pub fn idle(&mut self, budget: u16) -> Result<u16, Error> {
        let done = told(unsafe { sys::nw_store_idle(self.as_raw(), budget) })?;
        Ok(done as u16)
    }

    /// What is in use and how much may be.
    pub fn space(&self) -> sys::nw_store_space {
        let mut space = MaybeUninit::uninit();
        unsafe {
            sys::nw_store_space(self.raw.as_ptr(), space.as_mut_ptr());
            space.assume_init()
        }
    }

    /// A new object. Durable.
    pub fn create(&mut self, name: &str, kind: Kind) -> Result<Object, Error> {
        let name = Name::new(name)?;
        let spec = kind.raw();
        told(unsafe { sys::nw_store_create(self.as_raw(), name.0.as_ptr(), &spec) }).map(Object)
    }

    /// The object of this name.
    pub fn find(&mut self, name: &str) -> Result<Object, Error> {
        let name = Name::new(name)?;
        told(unsafe { sys::nw_store_find(self.as_raw(), name.0.as_ptr()) }).map(Object)
    }

    /// Gives an object up, with all it holds. Durable.
    pub fn delete(&mut self, object: Object) -> Result<(), Error> {
        told(unsafe { sys::nw_store_delete(self.as_raw(), object.0) }).map(|_| ())
    }

    /// To the top of a stack, or the end of a queue.
    pub fn push(&mut self, object: Object, data: &[u8]) -> Result<(), Error> {
        let bytes = length(data.len())?;
        let from = data.as_ptr().cast();
        told(unsafe { sys::nw_store_push(self.as_raw(), object.0, from, bytes) }).map(|_| ())
    }

    /// At the end of a stream.
    pub fn append(&mut self, object: Object, data: &[u8]) -> Result<(), Error> {
        let bytes = length(data.len())?;
        let from = data.as_ptr().cast();
        told(unsafe { sys::nw_store_append(self.as_raw(), object.0, from, bytes) }).map(|_| ())
    }

    /// Before the first element of a stream.
    pub fn first(&mut self, object: Object) -> Result<Cursor, Error> {
        let mut cursor = MaybeUninit::uninit();
        let store = self.as_raw();
        told(unsafe { sys::nw_store_first(store, object.0, cursor.as_mut_ptr()) })?;
        // SAFETY: the call has filled it.
        Ok(Cursor(unsafe { cursor.assume_init() }))
    }

    /// What is behind the cursor, which moves over it; empty at the end. With a unit as many
    /// elements as fit and lie in one chunk.
    pub fn next<'d>(&mut self, cursor: &mut Cursor, data: &'d mut [u8]) -> Result<&'d [u8], Error> {
        let room = length(data.len().min(0x7FFF))?;
        let to = data.as_mut_ptr().cast();
        let store = self.as_raw();
        let read = told(unsafe { sys::nw_store_next(store, &mut cursor.0, to, room) })?;
        Ok(&data[..read as usize])
    }

    /// The newest element of a stack, and it is gone; `Error::NOT_FOUND`: there is none.
    pub fn pop<'d>(&mut self, object: Object, data: &'d mut [u8]) -> Result<&'d [u8], Error> {
        self.take(sys::nw_store_pop, object, data)
    }

    /// The oldest element of a queue, and it is gone.
    pub fn dequeue<'d>(&mut self, object: Object, data: &'d mut [u8]) -> Result<&'d [u8], Error> {
        self.take(sys::nw_store_dequeue, object, data)
    }

    fn take<'d>(
        &mut self,
        take: unsafe extern "C" fn(*mut sys::nw_store, c_int, *mut c_void, u16) -> c_int,
        object: Object,
        data: &'d mut [u8],
    ) -> Result<&'d [u8], Error> {
        let room = length(data.len().min(0x7FFF))?;
        let to = data.as_mut_ptr().cast();
        let taken = told(unsafe { take(self.as_raw(), object.0, to, room) })?;
        Ok(&data[..taken as usize])
    }

    /// The value of a key of an array; `data` has the array's unit.
    pub fn get(&mut self, object: Object, key: u32, data: &mut [u8]) -> Result<(), Error> {
        self.unit(object, data.len())?;
        let to = data.as_mut_ptr().cast();
        told(unsafe { sys::nw_store_get(self.as_raw(), object.0, key, to) }).map(|_| ())
    }

    /// Sets the value of a key of an array; `data` has the array's unit.
    pub fn set(&mut self, object: Object, key: u32, data: &[u8]) -> Result<(), Error> {
        self.unit(object, data.len())?;
        let from = data.as_ptr().cast();
        told(unsafe { sys::nw_store_set(self.as_raw(), object.0, key, from) }).map(|_| ())
    }

    /// C takes the unit for granted; a slice of another length would be read beyond its end.
    fn unit(&mut self, object: Object, bytes: usize) -> Result<(), Error> {
        let mut about = MaybeUninit::uninit();
        for slot in 0..=u8::MAX {
            let result = unsafe { sys::nw_store_at(self.as_raw(), slot, about.as_mut_ptr()) };
            if result == sys::NW_ERR_RANGE {
                break;
            }
            if result < 0 {
                continue;
            }
            let about: sys::nw_store_about = unsafe { about.assume_init() };
            if about.handle == object.0 {
                let right = usize::from(about.spec.unit_bytes) == bytes;
                return if right { Ok(()) } else { Err(Error::RANGE) };
            }
        }
        Err(Error::NOT_FOUND)
    }

    /// Writes into a file; answers how many bytes. Fewer than there are: a call with the rest tells
    /// why.
    pub fn write(&mut self, object: Object, offset: u32, data: &[u8]) -> Result<usize, Error> {
        let bytes = length(data.len())?;
        let from = data.as_ptr().cast();
        let store = self.as_raw();
        let written = unsafe { sys::nw_store_write(store, object.0, offset, from, bytes) };
        told(written).map(|written| written as usize)
    }

    /// Reads from a file: what of it there is.
    pub fn read<'d>(
        &mut self,
        object: Object,
        offset: u32,
        data: &'d mut [u8],
    ) -> Result<&'d [u8], Error> {
        let room = length(data.len().min(0x7FFF))?;
        let to = data.as_mut_ptr().cast();
        let store = self.as_raw();
        let read = told(unsafe { sys::nw_store_read(store, object.0, offset, to, room) })?;
        Ok(&data[..read as usize])
    }
}
