// SPDX-License-Identifier: Apache-2.0
//! Serial NAND behind an `embedded-hal` `SpiDevice`.
use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::{ptr, slice};

use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{Operation, SpiDevice};

use crate::chip::Chip;
use crate::error::{told, Error};
use crate::sys;

/// One transfer of a command, noted until the command ends.
#[derive(Clone, Copy)]
struct Transfer {
    out: *const u8,
    into: *mut u8,
    length: u16,
}

const NOTHING: Transfer = Transfer {
    out: ptr::null(),
    into: ptr::null_mut(),
    length: 0,
};
/// What no driver of a serial NAND goes beyond: driver_spi.h, WHOLE COMMANDS.
const TRANSFERS: usize = 2;

struct Bus<S, D> {
    device: S,
    delay: D,
    noted: [Transfer; TRANSFERS],
    used: usize,
}

impl<S: SpiDevice, D: DelayNs> Bus<S, D> {
    /// Sends the transfers noted as one transaction.
    ///
    /// # Safety
    /// The memory of every transfer noted is still there, as driver_spi.h promises.
    unsafe fn send(&mut self) -> Result<(), Error> {
        let used = core::mem::take(&mut self.used);
        let [first, second] = self.noted.map(|one| one.operation());
        let result = match used {
            0 => return Ok(()),
            1 => self.device.transaction(&mut [first]),
            _ => self.device.transaction(&mut [first, second]),
        };
        result.map_err(|_| Error::IO)
    }
}

impl Transfer {
    /// # Safety
    /// The memory is there, and nobody else's, for as long as the operation.
    unsafe fn operation<'r>(self) -> Operation<'r, u8> {
        let length = usize::from(self.length);
        match (self.out.is_null(), self.into.is_null()) {
            (false, true) => Operation::Write(slice::from_raw_parts(self.out, length)),
            (true, false) => Operation::Read(slice::from_raw_parts_mut(self.into, length)),
            (false, false) => Operation::Transfer(
                slice::from_raw_parts_mut(self.into, length),
                slice::from_raw_parts(self.out, length),
            ),
            (true, true) => Operation::Write(&[]),
        }
    }
}

/// A serial NAND: the bus, and the driver's state.
pub struct SpiNand<S, D> {
    bus: Bus<S, D>,
    spi: sys::nw_spi,
    nand: MaybeUninit<sys::nw_spi_nand>,
}

impl<S: SpiDevice, D: DelayNs> SpiNand<S, D> {
    /// Nothing is sent yet. `khz` is the bus clock, for planning alone; 0: not counted.
    pub fn new(device: S, delay: D, khz: u32) -> Self {
        SpiNand {
            bus: Bus {
                device,
                delay,
                noted: [NOTHING; TRANSFERS],
                used: 0,
            },
            spi: sys::nw_spi {
                ops: &Self::OPS,
                context: ptr::null_mut(),
                khz,
                busy: 0,
                status: 0,
                error: 0,
            },
            nand: MaybeUninit::uninit(),
        }
    }

    /// Opens the part: driver_spi_nand.h tells what is sent and what the errors mean. Again after
    /// each loss of power.
    pub fn open(&mut self) -> Result<Chip<'_>, Error> {
        self.spi.context = (&raw mut self.bus).cast();
        let nand = self.nand.as_mut_ptr();
        // SAFETY: `self` is borrowed for as long as the chip is there, so nothing of it moves. An
        // opened driver has initialised its state.
        unsafe {
            told(sys::nw_spi_nand_open(nand, &raw mut self.spi, ptr::null()))?;
            Ok(Chip::from_raw(&raw mut (*nand).chip))
        }
    }

    /// Gives the bus back.
    pub fn release(self) -> (S, D) {
        (self.bus.device, self.bus.delay)
    }

    const OPS: sys::nw_spi_ops = sys::nw_spi_ops {
        select: Some(select::<S, D>),
        transfer: Some(transfer::<S, D>),
        wait: Some(wait::<S, D>),
        clock: None,
        read4: None,
    };
}

/// # Safety
/// `spi` is one of an open `SpiNand<S, D>`.
unsafe fn bus_of<'r, S, D>(spi: *mut sys::nw_spi) -> &'r mut Bus<S, D> {
    &mut *(*spi).context.cast::<Bus<S, D>>()
}

unsafe extern "C" fn select<S: SpiDevice, D: DelayNs>(spi: *mut sys::nw_spi, on: u8) -> c_int {
    let bus = bus_of::<S, D>(spi);
    if u32::from(on) != sys::NW_SPI_END {
        bus.used = 0;
        return sys::NW_OK;
    }
    bus.send().map_or_else(|error| error.0, |()| sys::NW_OK)
}

unsafe extern "C" fn transfer<S: SpiDevice, D: DelayNs>(
    spi: *mut sys::nw_spi,
    out: *const u8,
    into: *mut u8,
    length: u16,
) -> c_int {
    let bus = bus_of::<S, D>(spi);
    match bus.noted.get_mut(bus.used) {
        Some(place) => *place = Transfer { out, into, length },
        None => return sys::NW_ERR_IO,
    }
    bus.used += 1;
    sys::NW_OK
}

unsafe extern "C" fn wait<S: SpiDevice, D: DelayNs>(spi: *mut sys::nw_spi, us: u16) -> c_int {
    bus_of::<S, D>(spi).delay.delay_us(u32::from(us));
    sys::NW_OK
}
